import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let value = token as Any  // expected-error {{cannot convert value of type 'Secret<AccessToken>' to type 'Any' in coercion}}
    print(value)
}
