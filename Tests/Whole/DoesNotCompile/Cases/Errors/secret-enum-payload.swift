import LatchkeySecrets

private enum SignInFailed: Error {
    case refused(Secret<AccessToken>)  // expected-error {{associated value 'refused' of 'Copyable'-conforming enum 'SignInFailed' has non-Copyable type 'Secret<AccessToken>'}}
}
