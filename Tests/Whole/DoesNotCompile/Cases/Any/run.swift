// Compiled as a part of the package: outside it these have no names.
import LatchkeyCommands

private func leak(_ value: consuming ChildProgram) {
    let hidden: Any = value  // expected-error {{value of type 'ChildProgram' does not conform to specified type 'Copyable'}}
    print(hidden)
}

private func leakText(_ value: consuming MaskedText) {
    let hidden: Any = value  // expected-error {{value of type 'MaskedText' does not conform to specified type 'Copyable'}}
    print(hidden)
}

private func leakMask(_ value: consuming SecretMask) {
    let hidden: Any = value  // expected-error {{value of type 'SecretMask' does not conform to specified type 'Copyable'}}
    print(hidden)
}
