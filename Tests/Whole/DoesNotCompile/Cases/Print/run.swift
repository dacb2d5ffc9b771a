// Compiled as a part of the package: outside it these have no names.
import LatchkeyCommands

private func leak(_ value: consuming ChildProgram) {
    print(value)  // expected-error {{argument type 'ChildProgram' does not conform to expected type 'Copyable'}}
}

private func leakText(_ value: consuming MaskedText) {
    print(value)  // expected-error {{argument type 'MaskedText' does not conform to expected type 'Copyable'}}
}

private func leakMask(_ value: consuming SecretMask) {
    print(value)  // expected-error {{argument type 'SecretMask' does not conform to expected type 'Copyable'}}
}
