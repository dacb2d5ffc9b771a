import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>, _ other: borrowing Secret<AccessToken>) {
    print(token == other)  // expected-error {{binary operator '==' cannot be applied to two 'Secret<AccessToken>' operands}}
}
