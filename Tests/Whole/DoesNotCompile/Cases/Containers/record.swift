import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming CredentialRecord<AccessToken>) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'CredentialRecord<AccessToken>' conform to 'Copyable'}}
}
