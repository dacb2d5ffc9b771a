internal import LatchkeySystem

/// The range of a value or of a member's name. Nodes are in the order of the text.
struct JSONNode {
    let kind: JSONValue.Kind
    /// The range in the text; for a string, without the quotation marks.
    var bytes: Range<Int>
    /// The index of the node behind this one and all that is inside it.
    var end: Int
}

/// Reads a JSON text once, front to back, and notes where each value is (RFC 8259).
struct JSONScanner {
    private(set) var nodes: [JSONNode] = []
    private let limits: JSONLimits
    private var position = 0

    static let maximumNumberByteCount = 64

    init(limits: JSONLimits) {
        self.limits = limits
    }

    /// Reads exactly one value with white space around it.
    mutating func scan(_ bytes: Span<UInt8>) throws(JSONError) {
        guard bytes.count <= limits.byteCount else { throw JSONError(.tooLarge) }
        guard (try? UTF8Span(validating: bytes)) != nil else { throw JSONError(.invalidUTF8) }
        skipSpace(bytes)
        try scanValue(bytes, depth: 0)
        skipSpace(bytes)
        guard position == bytes.count else { throw JSONError(.unexpectedByte) }
    }

    // MARK: - Values

    private mutating func scanValue(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd) }
        switch bytes[position] {
        case UInt8(ascii: "{"): try scanObject(bytes, depth: depth + 1)
        case UInt8(ascii: "["): try scanArray(bytes, depth: depth + 1)
        case UInt8(ascii: "\""): try scanString(bytes)
        case UInt8(ascii: "t"): try scanWord(bytes, "true", .boolean)
        case UInt8(ascii: "f"): try scanWord(bytes, "false", .boolean)
        case UInt8(ascii: "n"): try scanWord(bytes, "null", .null)
        default: try scanNumber(bytes)
        }
    }

    /// Adds a node and returns its index.
    private mutating func add(_ kind: JSONValue.Kind, _ range: Range<Int>) throws(JSONError) -> Int {
        guard nodes.count < limits.valueCount else { throw JSONError(.tooManyValues) }
        nodes.append(JSONNode(kind: kind, bytes: range, end: nodes.count + 1))
        return nodes.count - 1
    }

    private mutating func scanObject(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) {
        guard depth <= limits.depth else { throw JSONError(.tooDeep) }
        let start = position
        let object = try add(.object, start..<start)
        position += 1
        skipSpace(bytes)
        var names: [Int: [Int]] = [:]
        var count = 0
        if !take(bytes, "}") {
            repeat {
                skipSpace(bytes)
                guard count < limits.memberCount else { throw JSONError(.tooManyValues) }
                count += 1
                try scanName(bytes, among: &names)
                skipSpace(bytes)
                try expect(bytes, ":")
                skipSpace(bytes)
                try scanValue(bytes, depth: depth)
                skipSpace(bytes)
            } while take(bytes, ",")
            try expect(bytes, "}")
        }
        nodes[object].bytes = start..<position
        nodes[object].end = nodes.count
    }

    private mutating func scanName(_ bytes: Span<UInt8>, among names: inout [Int: [Int]]) throws(JSONError) {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd) }
        guard bytes[position] == UInt8(ascii: "\"") else { throw JSONError(.unexpectedByte) }
        let name = nodes.count
        try scanString(bytes)
        var hasher = Hasher()
        JSONString.decode(bytes, nodes[name].bytes) { hasher.combine($0) }
        let hash = hasher.finalize()
        // Escapes are resolved first: "a" and "\u0061" are the same name.
        for other in names[hash, default: []]
        where JSONString.sameText(bytes, nodes[other].bytes, nodes[name].bytes) {
            throw JSONError(.duplicateMember)
        }
        names[hash, default: []].append(name)
    }

    private mutating func scanArray(_ bytes: Span<UInt8>, depth: Int) throws(JSONError) {
        guard depth <= limits.depth else { throw JSONError(.tooDeep) }
        let start = position
        let array = try add(.array, start..<start)
        position += 1
        skipSpace(bytes)
        if !take(bytes, "]") {
            repeat {
                skipSpace(bytes)
                try scanValue(bytes, depth: depth)
                skipSpace(bytes)
            } while take(bytes, ",")
            try expect(bytes, "]")
        }
        nodes[array].bytes = start..<position
        nodes[array].end = nodes.count
    }

    private mutating func scanString(_ bytes: Span<UInt8>) throws(JSONError) {
        position += 1
        let start = position
        let end = try JSONString.validate(bytes, from: start)
        _ = try add(.string, start..<end)
        position = end + 1
    }

    private mutating func scanWord(
        _ bytes: Span<UInt8>, _ word: StaticString, _ kind: JSONValue.Kind
    ) throws(JSONError) {
        let end = position + word.utf8CodeUnitCount
        guard end <= bytes.count else { throw JSONError(.unexpectedEnd) }
        guard ASCII.equal(bytes.extracting(position..<end), word.description) else {
            throw JSONError(.unexpectedByte)
        }
        _ = try add(kind, position..<end)
        position = end
    }

    private mutating func scanNumber(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        _ = take(bytes, "-")
        guard position < bytes.count else { throw JSONError(.unexpectedEnd) }
        guard ASCII.isDigit(bytes[position]) else { throw JSONError(.unexpectedByte) }
        // A number that starts with zero must not have another digit before its fraction.
        if !take(bytes, "0") { try scanDigits(bytes) }
        if take(bytes, ".") { try scanDigits(bytes) }
        if take(bytes, "e") || take(bytes, "E") {
            _ = take(bytes, "+") || take(bytes, "-")
            try scanDigits(bytes)
        }
        guard position - start <= Self.maximumNumberByteCount else { throw JSONError(.invalidNumber) }
        _ = try add(.number, start..<position)
    }

    private mutating func scanDigits(_ bytes: Span<UInt8>) throws(JSONError) {
        let start = position
        while position < bytes.count, ASCII.isDigit(bytes[position]) { position += 1 }
        guard position > start else { throw JSONError(.invalidNumber) }
    }

    // MARK: - Bytes

    private mutating func skipSpace(_ bytes: Span<UInt8>) {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func take(_ bytes: Span<UInt8>, _ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ bytes: Span<UInt8>, _ character: Unicode.Scalar) throws(JSONError) {
        guard position < bytes.count else { throw JSONError(.unexpectedEnd) }
        guard take(bytes, character) else { throw JSONError(.unexpectedByte) }
    }
}
