import LatchkeyOAuth

private func leak(_ value: consuming AuthorizationURL) {
    print(Mirror(reflecting: value).children.count)  // expected-error {{argument type 'AuthorizationURL' does not conform to expected type 'Copyable'}}
}
