import LatchkeyOAuth

private func leak(_ value: consuming ValidatedCallback) {
    print(value)  // expected-error {{argument type 'ValidatedCallback' does not conform to expected type 'Copyable'}}
}
