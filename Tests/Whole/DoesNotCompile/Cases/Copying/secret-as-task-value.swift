import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    let task: Task<Secret<AccessToken>, Never>? = nil  // expected-error {{type 'Secret<AccessToken>' does not conform to protocol 'Copyable'}}
    print(task == nil)
}
