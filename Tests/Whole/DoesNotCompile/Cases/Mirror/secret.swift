import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(Mirror(reflecting: token).children.count)  // expected-error {{argument type 'Secret<AccessToken>' does not conform to expected type 'Copyable'}}
}
