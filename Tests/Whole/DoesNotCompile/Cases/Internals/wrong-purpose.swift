import LatchkeySecrets

private func send(_ token: borrowing Secret<AccessToken>) {}

private func leak(_ token: borrowing Secret<RefreshToken>) {
    send(token)  // expected-error {{cannot convert value of type 'Secret<RefreshToken>' to expected argument type 'Secret<AccessToken>'}}
}
