import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    print(token.block)  // expected-error {{'block' is inaccessible due to 'private' protection level}}
}
