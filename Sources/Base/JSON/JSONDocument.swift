package import LatchkeySecrets
internal import LatchkeySystem

/// Bounds on what a `JSONDocument` takes.
package struct JSONLimits: Sendable, Hashable {
    /// Of the whole text.
    package var byteCount: Int
    /// Of arrays and objects inside each other.
    package var depth: Int
    /// Of all values and member names together.
    package var valueCount: Int
    /// Of one object.
    package var memberCount: Int

    package init(byteCount: Int = 256 << 10, depth: Int = 16, valueCount: Int = 16_384, memberCount: Int = 256) {
        self.byteCount = byteCount
        self.depth = depth
        self.valueCount = valueCount
        self.memberCount = memberCount
    }
}

/// The reason why a text isn't accepted as JSON, or why a value has the wrong type.
package struct JSONError: Error, Hashable, Sendable {
    package enum Problem: Sendable, Hashable, CaseIterable {
        case tooLarge, tooDeep, tooManyValues, unexpectedEnd, unexpectedByte, invalidUTF8, invalidEscape,
            controlCharacter, invalidNumber, duplicateMember, wrongType, outOfRange, tooLong
    }

    package let problem: Problem

    package init(_ problem: Problem) {
        self.problem = problem
    }
}

/// One value of a `JSONDocument`: a place, not a copy. A value is only useful with its document.
package struct JSONValue: Sendable, Hashable {
    package enum Kind: Sendable, Hashable { case object, array, string, number, boolean, null }

    package let kind: Kind
    let index: Int
}

/// A JSON text in guarded memory (RFC 8259), parsed into places.
///
/// Parsing is strict: UTF-8, no duplicate member names, no lone surrogates, nothing after the value, and everything
/// bounded. Parsing copies nothing. A secret member goes from the text into a `Secret`, with its escapes resolved, never
/// through a `String`. A public member is read as text with a length limit.
package struct JSONDocument: ~Copyable, Sendable {
    private let body: Secret<MessageBody>
    private let nodes: [JSONNode]

    /// Reads a whole text. Throws what is wrong with it; the text is wiped then.
    package init(_ body: consuming Secret<MessageBody>, limits: JSONLimits = JSONLimits()) throws(JSONError) {
        nodes = try body.withExposedBytes { (bytes) throws(JSONError) in
            var scanner = JSONScanner(limits: limits)
            try scanner.scan(bytes)
            return scanner.nodes
        }
        self.body = body
    }

    package var root: JSONValue { value(at: 0) }

    private borrowing func value(at index: Int) -> JSONValue { JSONValue(kind: nodes[index].kind, index: index) }

    // MARK: - Inside objects and arrays

    /// Returns a member of an object, or `nil` if it is missing or `null`, or if `value` isn't an object.
    package borrowing func member(_ name: StaticString, of value: JSONValue) -> JSONValue? {
        member(named: name.description, of: value)
    }

    package borrowing func member(named name: String, of value: JSONValue) -> JSONValue? {
        guard value.kind == .object else { return nil }
        let name = Array(name.utf8)
        return body.withExposedBytes { bytes -> JSONValue? in
            var index = value.index + 1
            while index < nodes[value.index].end {
                if JSONString.equals(bytes, nodes[index].bytes, name.span) {
                    return nodes[index + 1].kind == .null ? nil : self.value(at: index + 1)
                }
                index = nodes[index + 1].end
            }
            return nil
        }
    }

    /// Returns a member of the outermost object; see `member(_:of:)`.
    package borrowing func member(_ name: StaticString) -> JSONValue? { member(name, of: root) }

    /// Whether the outermost array or object has nothing in it.
    package var isEmpty: Bool { nodes[0].end == 1 }

    /// Whether the outermost value is an object with one member, whose value isn't an object or array with contents.
    package var hasOneMember: Bool { root.kind == .object && nodes.count == 3 }

    /// Returns the elements of an array in order; none for any other value.
    package borrowing func elements(of value: JSONValue) -> [JSONValue] {
        guard value.kind == .array else { return [] }
        var elements: [JSONValue] = []
        var index = value.index + 1
        while index < nodes[value.index].end {
            elements.append(self.value(at: index))
            index = nodes[index].end
        }
        return elements
    }

    /// Returns the members of an object in order, names that are strings with their values; none for any other value.
    package borrowing func members(of value: JSONValue) -> [(name: JSONValue, value: JSONValue)] {
        guard value.kind == .object else { return [] }
        var members: [(JSONValue, JSONValue)] = []
        var index = value.index + 1
        while index < nodes[value.index].end {
            members.append((self.value(at: index), self.value(at: index + 1)))
            index = nodes[index + 1].end
        }
        return members
    }

    /// The range of a value in the text; a string's includes its quotation marks.
    package borrowing func place(of value: JSONValue) -> Range<Int> {
        let range = nodes[value.index].bytes
        return value.kind == .string ? (range.lowerBound - 1)..<(range.upperBound + 1) : range
    }

    // MARK: - Values

    /// Returns a string as a secret, its escapes resolved, as UTF-8.
    package borrowing func secret<Purpose: SecretPurpose>(
        _ value: JSONValue, as purpose: Purpose.Type
    ) throws(JSONError) -> Secret<Purpose> {
        guard value.kind == .string else { throw JSONError(.wrongType) }
        let range = nodes[value.index].bytes
        return body.withExposedBytes { bytes in
            let count = JSONString.decodedByteCount(bytes, range)
            return Secret<Purpose>(byteCount: count) { target in
                var next = 0
                JSONString.decode(bytes, range) { byte in
                    target[next] = byte
                    next += 1
                }
            }
        }
    }

    /// Returns a string that isn't secret. Throws `.tooLong` above `limit` bytes of UTF-8.
    package borrowing func publicText(_ value: JSONValue, limit: Int) throws(JSONError) -> String {
        guard value.kind == .string else { throw JSONError(.wrongType) }
        let range = nodes[value.index].bytes
        return try body.withExposedBytes { (bytes) throws(JSONError) in
            let count = JSONString.decodedByteCount(bytes, range)
            guard count <= limit else { throw JSONError(.tooLong) }
            var text: [UInt8] = []
            text.reserveCapacity(count)
            JSONString.decode(bytes, range) { text.append($0) }
            return String(decoding: text, as: UTF8.self)
        }
    }

    /// Returns a string that isn't secret, of at most 8,192 bytes; `nil` for anything else.
    package borrowing func text(_ value: JSONValue?) -> String? { value.flatMap { try? publicText($0, limit: 8192) } }

    /// Returns an array's strings, which aren't secret; see `publicText`.
    package borrowing func publicTexts(_ list: JSONValue, limit: Int) throws(JSONError) -> [String] {
        try elements(of: list).map { (element) throws(JSONError) in try publicText(element, limit: limit) }
    }

    /// Whether a string is exactly this text; false for any other value.
    package borrowing func isText(_ value: JSONValue, _ text: StaticString) -> Bool {
        guard value.kind == .string else { return false }
        let text = Array(text.description.utf8)
        return body.withExposedBytes { JSONString.equals($0, nodes[value.index].bytes, text.span) }
    }

    /// Returns a number without fraction and exponent. Throws `.outOfRange` when it doesn't fit, `.wrongType` for any
    /// other value.
    package borrowing func integer(_ value: JSONValue) throws(JSONError) -> Int64 {
        guard value.kind == .number else { throw JSONError(.wrongType) }
        let text = number(value)
        guard !text.utf8.contains(where: { $0 == 0x2E || $0 | 0x20 == 0x65 }) else { throw JSONError(.wrongType) }
        guard let number = Int64(text) else { throw JSONError(.outOfRange) }
        return number
    }

    /// Returns a number. Throws `.outOfRange` for one that is not finite as a double.
    package borrowing func double(_ value: JSONValue) throws(JSONError) -> Double {
        guard value.kind == .number else { throw JSONError(.wrongType) }
        guard let number = Double(number(value)), number.isFinite else { throw JSONError(.outOfRange) }
        return number
    }

    /// Returns `true` or `false`. Throws `.wrongType` for any other value.
    package borrowing func boolean(_ value: JSONValue) throws(JSONError) -> Bool {
        guard value.kind == .boolean else { throw JSONError(.wrongType) }
        return nodes[value.index].bytes.count == 4
    }

    /// The digits as written; a number has at most `JSONScanner.maximumNumberByteCount` of them.
    private borrowing func number(_ value: JSONValue) -> String {
        let range = nodes[value.index].bytes
        return body.withExposedBytes { $0.extracting(range).publicText() ?? "" }
    }
}

// MARK: - Cuts

extension JSONDocument {
    /// The ranges of an object's members, with their commas.
    package borrowing func cuts(of names: [StaticString], in object: JSONValue) -> [Range<Int>] {
        let members = members(of: object)
        var cuts: [Range<Int>] = []
        var hasKept = false
        for (index, member) in members.enumerated() {
            let isCut = names.contains { isText(member.name, $0) }
            if !isCut {
                hasKept = true
            } else if hasKept {
                cuts.append(place(of: members[index - 1].value).upperBound..<place(of: member.value).upperBound)
            } else if index + 1 < members.count {
                cuts.append(place(of: member.name).lowerBound..<place(of: members[index + 1].name).lowerBound)
            } else {
                // All of them go.
                let inside = place(of: object)
                return [(inside.lowerBound + 1)..<(inside.upperBound - 1)]
            }
        }
        return cuts
    }
}
