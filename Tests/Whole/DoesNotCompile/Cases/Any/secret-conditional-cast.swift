import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    if let value = token as? any CustomStringConvertible { print(value) }  // expected-error {{cast from 'Secret<AccessToken>' to unrelated type 'any CustomStringConvertible' always fails}} expected-error {{noncopyable types cannot be conditionally cast}}
}
