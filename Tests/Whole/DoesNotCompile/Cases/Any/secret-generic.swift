import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    func show<Value>(_ value: Value) { print(value) }
    show(token)  // expected-error {{local function 'show' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
}
