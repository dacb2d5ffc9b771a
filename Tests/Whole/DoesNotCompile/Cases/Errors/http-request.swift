import LatchkeyHTTP

private struct Failed: Error {
    let value: GuardedRequest  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Failed' has non-Copyable type 'GuardedRequest'}}
}
