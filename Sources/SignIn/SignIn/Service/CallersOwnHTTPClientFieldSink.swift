public import LatchkeySecrets

/// The sink that hands a field's value, the token inside, to an HTTP client of the caller's own.
public struct CallersOwnHTTPClientFieldSink: SecretSink {
    public static var reason: StaticString { "the caller's own HTTP client sends the request to the account's server" }

    /// The whole value of a field, such as `DPoP …`: a secret, as ordinary text from here on.
    public private(set) var unprotectedFieldValue = ""

    /// Starts empty. What is poured into it is appended, so that each field needs a sink of its own.
    public init() {}

    public mutating func receive(_ bytes: Span<UInt8>) {
        for index in bytes.indices { unprotectedFieldValue.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    }
}
