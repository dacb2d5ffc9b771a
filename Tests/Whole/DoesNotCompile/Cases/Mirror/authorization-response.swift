import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationResponse) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'AuthorizationResponse' does not conform to expected type 'Copyable'}}
}
