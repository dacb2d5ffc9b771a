import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming CredentialRecord<AccessToken>) {
    print(String(reflecting: value))  // expected-error {{initializer 'init(reflecting:)' requires that 'CredentialRecord<AccessToken>' conform to 'Copyable'}}
}
