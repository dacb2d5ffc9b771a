import LatchkeySecrets

private func make(_ text: String) -> Secret<AccessToken> {
    Secret(text)  // expected-error {{missing argument label 'copying:' in call}} expected-error {{cannot convert value of type 'String' to expected argument type 'Span<UInt8>'}}
}
