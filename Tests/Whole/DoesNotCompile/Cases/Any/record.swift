import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming CredentialRecord<AccessToken>) {
    let hidden: Any = value  // expected-error {{value of type 'CredentialRecord<AccessToken>' does not conform to specified type 'Copyable'}}
    print(hidden)
}
