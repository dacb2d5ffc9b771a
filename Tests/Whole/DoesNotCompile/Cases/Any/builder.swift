// Compiled as a part of the package: outside it this has no name.
import LatchkeySecrets

private func leak(_ value: consuming SecretBuilder) {
    let hidden: Any = value  // expected-error {{value of type 'SecretBuilder' does not conform to specified type 'Copyable'}}
    print(hidden)
}
