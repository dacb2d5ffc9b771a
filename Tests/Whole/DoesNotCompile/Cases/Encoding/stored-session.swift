// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private struct Kept: Encodable {  // expected-error {{type 'Kept' does not conform to protocol 'Encodable'}}
    let value: StoredSession  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Kept' has non-Copyable type 'StoredSession'}}
}
