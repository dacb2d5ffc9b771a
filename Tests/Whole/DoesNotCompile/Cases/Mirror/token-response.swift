import LatchkeyOAuth

private func leak(_ value: consuming TokenResponse) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'TokenResponse' does not conform to expected type 'Copyable'}}
}
