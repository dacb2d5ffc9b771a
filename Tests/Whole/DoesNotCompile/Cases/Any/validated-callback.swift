import LatchkeyOAuth

private func leak(_ value: consuming ValidatedCallback) {
    let hidden: Any = value  // expected-error {{value of type 'ValidatedCallback' does not conform to specified type 'Copyable'}}
    print(hidden)
}
