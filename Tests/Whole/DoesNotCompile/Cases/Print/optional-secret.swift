import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>?) {
    print(token)  // expected-error {{global function 'print(_:separator:terminator:)' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
}
