import LatchkeyCredentials
import LatchkeySecrets

private struct Failed: Error {
    let value: CredentialRecord<AccessToken>  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Failed' has non-Copyable type 'CredentialRecord<AccessToken>'}}
}
