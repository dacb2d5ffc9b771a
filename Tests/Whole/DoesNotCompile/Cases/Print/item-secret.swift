// Compiled as a part of the package: outside it this has no name.
import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming ItemRecord<Password>) {
    print(value)  // expected-error {{argument type 'ItemRecord<Password>' does not conform to expected type 'Copyable'}}
}
