import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming CredentialRecord<AccessToken>) {
    print(value)  // expected-error {{argument type 'CredentialRecord<AccessToken>' does not conform to expected type 'Copyable'}}
}
