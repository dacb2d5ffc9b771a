import LatchkeyOAuth
import LatchkeySecrets

/// Keeps what was poured into it where a test can look at it.
struct CollectingSink: SecretSink {
    static var reason: StaticString { "a test looks at what comes out" }

    var bytes: [UInt8] = []

    mutating func receive(_ span: Span<UInt8>) {
        for index in span.indices { bytes.append(span[index]) }
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension Secret where Purpose: SecretPurpose {
    /// A secret of a test's own making.
    init(_ text: String) {
        let bytes = Array(text.utf8)
        self.init(copying: bytes.span)
    }

    /// What is in it.
    borrowing func reveal() -> String {
        var sink = CollectingSink()
        pour(into: &sink)
        return sink.text
    }

    borrowing func revealBytes() -> [UInt8] {
        var sink = CollectingSink()
        pour(into: &sink)
        return sink.bytes
    }
}

extension AuthorizationURL {
    borrowing func reveal() -> String {
        var sink = CollectingSink()
        pour(into: &sink)
        return sink.text
    }
}

/// The decoded fields of a form or query, in order.
func formFields(_ text: some StringProtocol) -> [(name: String, value: String)] {
    func decode(_ part: some StringProtocol) -> String {
        var bytes: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)!)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
    return text.split(separator: "&").map { field in
        let parts = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (decode(parts[0]), parts.count > 1 ? decode(parts[1]) : "")
    }
}

/// The value of the only field with this name, or `nil`.
func field(_ name: String, of text: some StringProtocol) -> String? {
    let values = formFields(text).filter { $0.name == name }.map(\.value)
    return values.count == 1 ? values[0] : nil
}
