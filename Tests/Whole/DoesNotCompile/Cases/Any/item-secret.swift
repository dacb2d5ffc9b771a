// Compiled as a part of the package: outside it this has no name.
import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming ItemRecord<Password>) {
    let hidden: Any = value  // expected-error {{value of type 'ItemRecord<Password>' does not conform to specified type 'Copyable'}}
    print(hidden)
}
