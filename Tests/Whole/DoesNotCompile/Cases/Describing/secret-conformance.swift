public import LatchkeySecrets

extension Secret: @retroactive CustomStringConvertible {  // expected-error {{type 'Secret<Purpose>' does not conform to protocol 'Copyable'}}
    public var description: String { "" }
}
