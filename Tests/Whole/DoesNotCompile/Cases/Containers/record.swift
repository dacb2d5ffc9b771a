import LatchkeyCredentials
import LatchkeySecrets

func leak(_ value: consuming CredentialRecord<AccessToken>) {
    print([value])  // expected-error {{generic struct 'Array' requires that 'CredentialRecord<AccessToken>' conform to 'Copyable'}}
}
