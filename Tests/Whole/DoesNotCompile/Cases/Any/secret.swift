import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let value: Any = token  // expected-error {{value of type 'Secret<AccessToken>' does not conform to specified type 'Copyable'}}
    print(value)
}
