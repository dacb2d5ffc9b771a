// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private struct Kept: Encodable {  // expected-error {{type 'Kept' does not conform to protocol 'Encodable'}}
    let value: ES256Key  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Kept' has non-Copyable type 'ES256Key'}}
}
