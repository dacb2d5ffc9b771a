import LatchkeyCredentials
import LatchkeySecrets

private func leak(_ value: consuming CredentialRecord<AccessToken>) {
    print("\(value)")  // expected-error {{no exact matches in call to instance method 'appendInterpolation'}}
}
