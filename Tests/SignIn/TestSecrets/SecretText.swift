public import LatchkeyOAuth
public import LatchkeySecrets

// Secrets made of text and shown as text, for tests alone.

extension Secret where Purpose: SecretPurpose {
    public static func test(_ text: String) -> Secret {
        let bytes = Array(text.utf8)
        return Secret(copying: bytes.span)
    }

    /// The bytes as text.
    public var testText: String {
        withExposedBytes { bytes in
            var array: [UInt8] = []
            for index in bytes.indices { array.append(bytes[index]) }
            return String(decoding: array, as: UTF8.self)
        }
    }
}

/// Collects what it receives as text.
public struct TextSink: SecretSink {
    public static var reason: StaticString { "a test" }
    public private(set) var text = ""

    public init() {}

    public mutating func receive(_ bytes: Span<UInt8>) {
        for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    }
}

extension AuthorizationURL {
    /// The whole address.
    public var testText: String {
        var sink = TextSink()
        pour(into: &sink)
        return sink.text
    }
}
