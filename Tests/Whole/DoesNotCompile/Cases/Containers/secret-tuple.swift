import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let pair = ("token", token)  // expected-error {{type '(String, Secret<AccessToken>)' containing noncopyable element is not supported}}
    print(pair)  // expected-error {{global function 'print(_:separator:terminator:)' requires that 'Secret<AccessToken>' conform to 'Copyable'}}
}
