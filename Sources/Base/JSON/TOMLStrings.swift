package import LatchkeySecrets
internal import LatchkeySystem

/// The places of the strings that a TOML text (1.0) assigns: a string may be a secret.
///
/// The parser reads all of TOML, and notes the strings under one of `roots`, or all strings without `roots`. Text that
/// isn't TOML is an error, but dates, numbers and control characters aren't checked closely.
package struct TOMLStrings {
    package struct Entry: Sendable {
        /// The names of the tables and the key.
        package let path: [String]
        /// The range of the string with its quotation marks.
        package let value: Range<Int>
        package let line: Int
        /// The lines of the assignment, or without its comment the part of them; `nil` in an inline table.
        package var lines: Range<Int>?
    }

    package struct Malformed: Error {
        package let line: Int
    }

    package private(set) var entries: [Entry] = []
    private let roots: Set<String>?
    private var position = 0
    private var line = 1

    private static let maximumDepth = 16
    private static let maximumEntryCount = 4096

    package init(_ text: Span<UInt8>, under roots: Set<String>? = nil) throws(Malformed) {
        self.roots = roots
        var table: [String] = []
        while true {
            skipSpace(text, over: true)
            guard position < text.count else { return }
            if take(text, "[") {
                let isArray = take(text, "[")
                skipSpace(text)
                table = try keys(text)
                try expect(text, "]")
                // An element of an array of tables isn't one of the wanted tables.
                if isArray {
                    try expect(text, "]")
                    table.append("[]")
                }
                try endLine(text)
            } else {
                try assignment(text, table)
            }
        }
    }

    // MARK: - Assignments

    private mutating func assignment(_ text: Span<UInt8>, _ table: [String]) throws(Malformed) {
        var start = position
        while start > 0, text[start - 1] == 0x20 || text[start - 1] == 0x09 { start -= 1 }
        let path = table + (try keys(text))
        try expect(text, "=")
        skipSpace(text)
        let isString = isQuotationMark(text)
        let count = entries.count
        try value(text, path, 0)
        let end = position
        skipSpace(text)
        let hasComment = text.starts(with: "#", at: position)
        try endLine(text)
        if isString, entries.count == count + 1 { entries[count].lines = start..<(hasComment ? end : position) }
    }

    private mutating func value(_ text: Span<UInt8>, _ path: [String], _ depth: Int) throws(Malformed) {
        guard depth < Self.maximumDepth else { throw malformed }
        if isQuotationMark(text) {
            let line = line
            let place = try string(text)
            guard let root = path.first, roots?.contains(root) ?? true else { return }
            guard entries.count < Self.maximumEntryCount else { throw malformed }
            entries.append(Entry(path: path, value: place, line: line))
        } else if take(text, "[") {
            try list(text, until: "]") { (reader) throws(Malformed) in try reader.value(text, path + ["[]"], depth + 1)
            }
        } else if take(text, "{") {
            try list(text, until: "}") { (reader) throws(Malformed) in
                let keys = try reader.keys(text)
                try reader.expect(text, "=")
                reader.skipSpace(text)
                try reader.value(text, path + keys, depth + 1)
            }
        } else {
            let start = position
            while position < text.count, Self.isScalar(text, position) { position += 1 }
            guard position > start else { throw malformed }
        }
    }

    /// Whether a byte can be in a number, a truth value or a date, whose parts may have a space between them.
    private static func isScalar(_ text: Span<UInt8>, _ place: Int) -> Bool {
        let byte = text[place]
        if byte == 0x20 { return place + 1 < text.count && ASCII.isDigit(text[place + 1]) }
        return isBare(byte) || "+.:".utf8.contains(byte)
    }

    private mutating func list(
        _ text: Span<UInt8>, until end: StaticString, _ element: (inout TOMLStrings) throws(Malformed) -> Void
    ) throws(Malformed) {
        skipSpace(text, over: true)
        while !take(text, end) {
            try element(&self)
            skipSpace(text, over: true)
            if take(text, ",") {
                skipSpace(text, over: true)
            } else if !text.starts(with: end, at: position) {
                throw malformed
            }
        }
    }

    // MARK: - Keys

    private mutating func keys(_ text: Span<UInt8>) throws(Malformed) -> [String] {
        var keys: [String] = []
        repeat {
            skipSpace(text)
            keys.append(try key(text))
            guard keys.count <= Self.maximumDepth else { throw malformed }
            skipSpace(text)
        } while take(text, ".")
        return keys
    }

    private mutating func key(_ text: Span<UInt8>) throws(Malformed) -> String {
        if isQuotationMark(text) {
            guard !text.starts(with: "\"\"\"", at: position), !text.starts(with: "'''", at: position),
                let key = Self.decoded(text, try string(text), as: MessageBody.self),
                let name = key.withExposedBytes({ $0.publicText() })
            else { throw malformed }
            return name
        }
        let start = position
        while position < text.count, Self.isBare(text[position]) { position += 1 }
        guard position > start, let key = text.extracting(start..<position).publicText() else { throw malformed }
        return key
    }

    private static func isBare(_ byte: UInt8) -> Bool {
        ASCII.isLetter(byte) || ASCII.isDigit(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
    }

    // MARK: - Strings

    private func isQuotationMark(_ text: Span<UInt8>) -> Bool {
        position < text.count && (text[position] == UInt8(ascii: "\"") || text[position] == UInt8(ascii: "'"))
    }

    /// Passes over a string of any of the four kinds.
    private mutating func string(_ text: Span<UInt8>) throws(Malformed) -> Range<Int> {
        let start = position
        let mark = text[position]
        let opening = Self.openingCount(text, start)
        position += opening
        while position < text.count {
            let byte = text[position]
            if byte == 0x0A {
                guard opening == 3 else { throw malformed }
                line += 1
            }
            if byte == UInt8(ascii: "\\"), mark == UInt8(ascii: "\"") {
                // An escaped character doesn't end the string; a line break is counted the next time.
                position += position + 1 < text.count && text[position + 1] != 0x0A ? 2 : 1
                continue
            }
            if byte == mark {
                guard opening == 3 else {
                    position += 1
                    return start..<position
                }
                var end = position
                while end < text.count, text[end] == mark, end - position < 5 { end += 1 }
                // The last three end it; up to two before them are its own.
                if end - position >= 3 {
                    position = end
                    return start..<position
                }
                position = end
                continue
            }
            position += 1
        }
        throw malformed
    }

    /// The quotation marks that a string begins and ends with.
    static func openingCount(_ text: Span<UInt8>, _ start: Int) -> Int {
        text.starts(with: "\"\"\"", at: start) || text.starts(with: "'''", at: start) ? 3 : 1
    }

    // MARK: - Bytes

    private var malformed: Malformed { Malformed(line: line) }

    /// Passes over spaces and tabs, and if wanted over line breaks and comments as well.
    private mutating func skipSpace(_ text: Span<UInt8>, over lines: Bool = false) {
        while position < text.count {
            switch text[position] {
            case 0x20, 0x09: position += 1
            case 0x0D where lines: position += 1
            case 0x0A where lines:
                line += 1
                position += 1
            case UInt8(ascii: "#") where lines:
                position = text.index(of: 0x0A, from: position) ?? text.count
            default: return
            }
        }
    }

    private mutating func take(_ text: Span<UInt8>, _ character: StaticString) -> Bool {
        guard text.starts(with: character, at: position) else { return false }
        position += character.utf8CodeUnitCount
        return true
    }

    private mutating func expect(_ text: Span<UInt8>, _ character: StaticString) throws(Malformed) {
        skipSpace(text)
        guard take(text, character) else { throw malformed }
    }

    /// Passes over a comment and the end of the line; anything else is an error.
    private mutating func endLine(_ text: Span<UInt8>) throws(Malformed) {
        skipSpace(text)
        if text.starts(with: "#", at: position) { position = text.index(of: 0x0A, from: position) ?? text.count }
        if text.starts(with: "\r", at: position) { position += 1 }
        guard position < text.count else { return }
        guard take(text, "\n") else { throw malformed }
        line += 1
    }
}

// MARK: - Decoding

extension TOMLStrings {
    /// The bytes of a string in guarded memory, or `nil` for escapes that TOML hasn't.
    package static func decoded<Purpose: SecretPurpose>(
        _ text: Span<UInt8>, _ place: Range<Int>, as purpose: Purpose.Type = Password.self
    ) -> Secret<Purpose>? {
        let opening = openingCount(text, place.lowerBound)
        let isLiteral = text[place.lowerBound] == UInt8(ascii: "'")
        guard place.count >= 2 * opening else { return nil }
        let end = place.upperBound - opening
        var index = place.lowerBound + opening
        if opening == 3 {
            // A line break right after the opening isn't part of the string.
            if text.starts(with: "\r\n", at: index) {
                index += 2
            } else if text.starts(with: "\n", at: index) {
                index += 1
            }
        }
        var result = SecretBuilder(capacity: place.count)
        while index < end {
            let byte = text[index]
            index += 1
            guard byte == UInt8(ascii: "\\"), !isLiteral else {
                try? result.append(byte)
                continue
            }
            guard index < end, let next = unescape(text, index, end, into: &result) else { return nil }
            index = next
        }
        return result.finish(as: purpose)
    }

    /// Appends the character of the escape whose letter is at `index`, and returns the end of the escape.
    private static func unescape(
        _ text: Span<UInt8>, _ index: Int, _ end: Int, into result: inout SecretBuilder
    ) -> Int? {
        let letter = text[index]
        let short: [UInt8: UInt8] = [
            UInt8(ascii: "b"): 0x08, UInt8(ascii: "t"): 0x09, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "f"): 0x0C,
            UInt8(ascii: "r"): 0x0D, UInt8(ascii: "e"): 0x1B, UInt8(ascii: "\""): 0x22, UInt8(ascii: "\\"): 0x5C,
        ]
        if let byte = short[letter] {
            try? result.append(byte)
            return index + 1
        }
        if letter == UInt8(ascii: "u") || letter == UInt8(ascii: "U") {
            let stop = index + (letter == UInt8(ascii: "u") ? 5 : 9)
            guard stop <= end else { return nil }
            var value: UInt32 = 0
            for place in (index + 1)..<stop {
                guard let digit = ASCII.hexValue(text[place]) else { return nil }
                value = value << 4 | UInt32(digit)
            }
            guard let scalar = Unicode.Scalar(value) else { return nil }
            for byte in UTF8.encode(scalar)! { try? result.append(byte) }
            return stop
        }
        // A backslash before a line break joins the lines.
        var next = index
        var hasBreak = false
        while next < end, [0x20, 0x09, 0x0D, 0x0A].contains(text[next]) {
            if text[next] == 0x0A { hasBreak = true }
            next += 1
        }
        return hasBreak ? next : nil
    }
}
