internal import LatchkeySystem

/// Reads the header of a response line by line as libcurl hands it over, within limits.
struct ResponseHeader {
    static let maximumFieldCount = 128
    static let maximumByteCount = 65_536

    private(set) var status = 0
    private(set) var fields: [HeaderField] = []
    private var byteCount = 0
    private var isComplete = false

    /// Takes one line with its line end. Returns false when it must not be: too much, or no valid field.
    mutating func take(line: Span<UInt8>) -> Bool {
        byteCount += line.count
        guard byteCount <= Self.maximumByteCount else { return false }
        var end = line.count
        while end > 0, line[end - 1] == UInt8(ascii: "\n") || line[end - 1] == UInt8(ascii: "\r") { end -= 1 }
        if end == 0 {
            isComplete = true
            return true
        }
        let content = line.extracting(first: end)
        if Self.startsResponse(content) {
            // An interim response (1xx) was complete; the real one follows.
            (status, fields, isComplete) = (Self.status(of: content), [], false)
            return status != 0
        }
        // A field after the end of the header is a trailer: counted, not kept.
        return isComplete || takeField(content)
    }

    private mutating func takeField(_ line: Span<UInt8>) -> Bool {
        guard let colon = line.indices.first(where: { line[$0] == UInt8(ascii: ":") }) else { return false }
        let name = Self.text(line.extracting(0..<colon))
        let value = line.extracting(line.trimmed(colon + 1..<line.count, where: Self.isBlank))
        // Bytes beyond ASCII are permitted and opaque (RFC 9110 section 5.5). Nothing here needs such a field: left
        // out.
        guard value.indices.allSatisfy({ value[$0] < 0x80 }) else { return HeaderField(name, "") != nil }
        guard fields.count < Self.maximumFieldCount, let field = HeaderField(name, Self.text(value))
        else { return false }
        fields.append(field)
        return true
    }

    // MARK: - Bytes

    private static func startsResponse(_ line: Span<UInt8>) -> Bool {
        let start: [UInt8] = Array("HTTP/".utf8)
        return line.count >= start.count && start.indices.allSatisfy { line[$0] == start[$0] }
    }

    /// The status in `HTTP/1.1 200 OK`, or 0.
    private static func status(of line: Span<UInt8>) -> Int {
        guard let blank = line.indices.first(where: { line[$0] == UInt8(ascii: " ") }), line.count >= blank + 4,
            let status = Int(text(line.extracting(blank + 1..<blank + 4))), (100...999).contains(status)
        else { return 0 }
        return status
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func text(_ bytes: Span<UInt8>) -> String {
        String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
    }
}
