import LatchkeyCredentials
import LatchkeySecrets

private struct Kept: Encodable {  // expected-error {{type 'Kept' does not conform to protocol 'Encodable'}}
    let value: CredentialRecord<AccessToken>  // expected-error {{stored property 'value' of 'Copyable'-conforming struct 'Kept' has non-Copyable type 'CredentialRecord<AccessToken>'}}
}
