import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(String(decoding: token, as: UTF8.self))  // expected-error {{initializer 'init(decoding:as:)' requires that 'Secret<AccessToken>' conform to 'Collection'}}
}
