// Compiled as a part of the package: outside it this has no name.
import LatchkeySecrets

private func leak(_ value: consuming SecretBuilder) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
