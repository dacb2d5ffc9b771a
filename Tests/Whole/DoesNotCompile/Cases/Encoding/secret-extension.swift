public import LatchkeySecrets

extension Secret: @retroactive Encodable {  // expected-error {{type 'Secret<Purpose>' does not conform to protocol 'Copyable'}}
    public func encode(to encoder: any Encoder) throws {}
}
