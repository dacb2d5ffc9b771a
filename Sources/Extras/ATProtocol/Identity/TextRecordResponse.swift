/// Reads the TXT records of a DNS message (RFC 1035 section 4), in bounds and to its end.
struct TextRecordResponse: Sendable, Hashable {
    /// One text for each record, its pieces joined.
    let texts: [String]

    /// In bytes: as large as a message over TCP can be.
    static let maximumByteCount = 65_535
    static let maximumRecordCount = 64
    static let maximumTextByteCount = 4096

    /// Throws `.malformedResponse` for anything that isn't a response to a question about `name`: another question, a
    /// length that leads out of the message, a loop of names, too many records.
    init(_ message: [UInt8], about name: String) throws(NameLookupError) {
        guard message.count <= Self.maximumByteCount else { throw NameLookupError(.malformedResponse) }
        var reader = MessageReader(message)
        _ = try reader.number()
        let flags = try reader.number()
        let questions = try reader.number()
        let answerCount = try reader.number()
        _ = try reader.number()
        _ = try reader.number()
        // A response, whole, to one question.
        guard flags & 0x8000 != 0, flags & 0x0200 == 0, flags & 0x000F == 0, questions == 1,
            answerCount <= Self.maximumRecordCount, try reader.name() == name.lowercased()
        else { throw NameLookupError(.malformedResponse) }
        guard try reader.number() == 16, try reader.number() == 1 else { throw NameLookupError(.malformedResponse) }
        // Records of the name, and of the names that it is an alias for.
        var owners: Set<String> = [name.lowercased()]
        var texts: [String] = []
        for _ in 0..<answerCount {
            let owner = try reader.name()
            let (type, group) = (try reader.number(), try reader.number())
            // The time to live.
            _ = (try reader.number(), try reader.number())
            let count = try reader.number()
            let end = try reader.end(after: count)
            if group == 1, owners.contains(owner) {
                if type == 16 { texts.append(try reader.text(until: end)) }
                if type == 5 { owners.insert(try reader.name()) }
            }
            try reader.move(to: end)
        }
        self.texts = texts
    }
}

private struct MessageReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    private func byte(_ index: Int) throws(NameLookupError) -> UInt8 {
        guard bytes.indices.contains(index) else { throw NameLookupError(.malformedResponse) }
        return bytes[index]
    }

    mutating func number() throws(NameLookupError) -> Int {
        let number = Int(try byte(position)) << 8 | Int(try byte(position + 1))
        position += 2
        return number
    }

    func end(after count: Int) throws(NameLookupError) -> Int {
        guard count <= bytes.count - position else { throw NameLookupError(.malformedResponse) }
        return position + count
    }

    mutating func move(to place: Int) throws(NameLookupError) {
        guard (position...bytes.count).contains(place) else { throw NameLookupError(.malformedResponse) }
        position = place
    }

    /// A name in lower case, without the dot at its end. A pointer (section 4.1.4) must lead back, so that there is no
    /// loop.
    mutating func name() throws(NameLookupError) -> String {
        var labels: [String] = []
        var (place, end, length) = (position, -1, 0)
        while true {
            let count = Int(try byte(place))
            switch count & 0xC0 {
            case 0xC0:
                let target = (count & 0x3F) << 8 | Int(try byte(place + 1))
                guard target < place else { throw NameLookupError(.malformedResponse) }
                if end < 0 { end = place + 2 }
                place = target
            case 0x00:
                if count == 0 {
                    position = end < 0 ? place + 1 : end
                    return labels.joined(separator: ".")
                }
                length += count + 1
                guard length <= 255, place + 1 + count <= bytes.count else { throw NameLookupError(.malformedResponse) }
                labels.append(String(decoding: bytes[(place + 1)..<(place + 1 + count)], as: UTF8.self).lowercased())
                place += count + 1
            default: throw NameLookupError(.malformedResponse)
            }
        }
    }

    mutating func text(until end: Int) throws(NameLookupError) -> String {
        var text: [UInt8] = []
        while position < end {
            let count = Int(try byte(position))
            guard position + 1 + count <= end, text.count + count <= TextRecordResponse.maximumTextByteCount else {
                throw NameLookupError(.malformedResponse)
            }
            text += bytes[(position + 1)..<(position + 1 + count)]
            position += count + 1
        }
        return String(decoding: text, as: UTF8.self)
    }
}
