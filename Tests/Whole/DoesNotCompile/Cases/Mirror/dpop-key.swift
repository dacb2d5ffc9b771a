// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private func leak(_ value: consuming ES256Key) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'ES256Key' does not conform to expected type 'Copyable'}}
}
