// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth

private struct Failed: Error {
    let value: ES256Key  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Failed' has non-Copyable type 'ES256Key'}}
}
