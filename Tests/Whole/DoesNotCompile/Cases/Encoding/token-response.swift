import LatchkeyOAuth

private struct Kept: Encodable {  // expected-error {{type 'Kept' does not conform to protocol 'Encodable'}}
    let value: TokenResponse  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Kept' has non-Copyable type 'TokenResponse'}}
}
