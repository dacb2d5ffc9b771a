// Compiled as a part of the package: outside it this has no name.
import LatchkeySecrets

private func leak(_ value: consuming SecretBuilder) {
    print(value)  // expected-error {{argument type 'SecretBuilder' does not conform to expected type 'Copyable'}}
}
