// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private struct Failed: Error {
    let value: StoredSession  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Failed' has non-Copyable type 'StoredSession'}}
}
