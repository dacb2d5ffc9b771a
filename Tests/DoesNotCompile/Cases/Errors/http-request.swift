import LatchkeyHTTP

struct Failed: Error {
    let value: HTTPRequest  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Failed' has non-Copyable type 'HTTPRequest'}}
}
