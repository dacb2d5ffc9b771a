// Compiled as a part of the package: outside it these have no names.
import LatchkeyCommands

private func leak(_ value: consuming ChildProgram) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}

private func leakText(_ value: consuming MaskedText) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}

private func leakMask(_ value: consuming SecretMask) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
