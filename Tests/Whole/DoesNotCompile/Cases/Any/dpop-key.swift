// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming ES256Key) {
    let hidden: Any = value  // expected-error {{value of type 'ES256Key' does not conform to specified type 'Copyable'}}
    print(hidden)
}
