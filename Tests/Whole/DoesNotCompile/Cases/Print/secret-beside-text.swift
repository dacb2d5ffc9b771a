import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print("token:", token)  // expected-error {{argument type 'Secret<AccessToken>' does not conform to expected type 'Copyable'}}
}
