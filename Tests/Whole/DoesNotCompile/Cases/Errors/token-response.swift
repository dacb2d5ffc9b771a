import LatchkeyOAuth

private struct Failed: Error {
    let value: TokenResponse  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Failed' has non-Copyable type 'TokenResponse'}}
}
