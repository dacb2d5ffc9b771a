import LatchkeyOAuth

private struct Kept: Encodable {  // expected-error {{type 'Kept' does not conform to protocol 'Encodable'}}
    let value: AuthorizationURL  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Kept' has non-Copyable type 'AuthorizationURL'}}
}
