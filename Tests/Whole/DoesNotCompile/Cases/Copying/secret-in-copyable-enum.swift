import LatchkeySecrets

private enum Outcome {
    case success(Secret<AccessToken>)  // expected-error {{associated value 'success' of 'Copyable'-conforming enum 'Outcome' has non-Copyable type 'Secret<AccessToken>'}}
    case failure
}
