/// Reads a file of variables: the `.env` of shells, docker compose and many programs.
///
/// Lines are `NAME=VALUE` or `export NAME=VALUE`. Empty lines and lines that begin with `#` are ignored.
///
/// - A plain value: blanks at its ends are left out, and so is a `#` after a blank with the rest of the line.
/// - `'VALUE'`: every character is literal; the value may go on in the next lines.
/// - `"VALUE"`: the same, but `\n`, `\r`, `\t`, `\"`, `\\` and `\$` are one character each.
///
/// Nothing is expanded. A value that begins with `latchkey://` refers to a stored secret. The error for an invalid line
/// only has the line's number, because the line may be a secret.
package struct EnvironmentFile {
    package static let maximumByteCount = 1 << 20

    /// A line that can't be read, counted from 1.
    package struct Malformed: Error, Hashable, Sendable {
        package enum Problem: Sendable, Hashable { case syntax, encoding, reference }

        package let line: Int
        package let problem: Problem

        package init(line: Int, problem: Problem) {
            self.line = line
            self.problem = problem
        }
    }

    private static let lineFeed: UInt8 = 0x0A
    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09, UInt8(ascii: "\""): 0x22,
        UInt8(ascii: "\\"): 0x5C, UInt8(ascii: "$"): 0x24,
    ]

    private var rest: ArraySlice<UInt8>
    private var line = 1

    package static func variables(in bytes: [UInt8]) throws(Malformed) -> [ChildVariable] {
        var file = EnvironmentFile(rest: bytes[...])
        var variables: [ChildVariable] = []
        while !file.rest.isEmpty {
            if let variable = try file.takeLine() { variables.append(variable) }
        }
        return variables
    }

    // MARK: - Lines

    private mutating func takeLine() throws(Malformed) -> ChildVariable? {
        let first = line
        skipBlanks()
        skipComment()
        if takeLineEnd() { return nil }
        if rest.starts(with: "export ".utf8) || rest.starts(with: "export\t".utf8) {
            rest = rest.dropFirst("export ".utf8.count)
            skipBlanks()
        }
        let nameBytes = rest.prefix { $0 != UInt8(ascii: "=") && $0 != Self.lineFeed }
        let name = String(decoding: nameBytes, as: UTF8.self)
        rest = rest.dropFirst(nameBytes.count)
        guard VariableName.isValid(name), rest.popFirst() == UInt8(ascii: "="), let bytes = takeValue(),
            takeLineEnd(), !bytes.contains(0)
        else { throw Malformed(line: first, problem: .syntax) }
        guard let value = String(validating: bytes, as: UTF8.self) else {
            throw Malformed(line: first, problem: .encoding)
        }
        guard value.hasPrefix(SecretReference.scheme) else { return ChildVariable(name, .text(value)) }
        guard let secret = SecretReference.name(of: value) else { throw Malformed(line: first, problem: .reference) }
        return ChildVariable(name, .secret(secret))
    }

    /// Takes a value and the comment behind it, up to the line's end; `nil` when a quote isn't closed.
    private mutating func takeValue() -> [UInt8]? {
        let isAfterBlank = skipBlanks()
        guard let quote = rest.first, quote == UInt8(ascii: "'") || quote == UInt8(ascii: "\"") else {
            return takePlainValue(isAfterBlank: isAfterBlank)
        }
        rest = rest.dropFirst()
        var value: [UInt8] = []
        while let byte = rest.popFirst() {
            if byte == quote {
                if skipBlanks() { skipComment() }
                return value
            }
            if byte == Self.lineFeed { line += 1 }
            if quote == UInt8(ascii: "\""), byte == UInt8(ascii: "\\"), let next = rest.first,
                let escaped = Self.escapes[next]
            {
                rest = rest.dropFirst()
                value.append(escaped)
            } else {
                value.append(byte)
            }
        }
        return nil
    }

    private mutating func takePlainValue(isAfterBlank: Bool) -> [UInt8] {
        var value: [UInt8] = []
        var isAfterBlank = isAfterBlank
        while let byte = rest.first, byte != Self.lineFeed {
            if byte == UInt8(ascii: "#"), isAfterBlank {
                skipComment()
                break
            }
            isAfterBlank = Self.isBlank(byte)
            value.append(byte)
            rest = rest.dropFirst()
        }
        while let last = value.last, Self.isBlank(last) || last == 0x0D { value.removeLast() }
        return value
    }

    // MARK: - Between them

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns whether there was one.
    @discardableResult
    private mutating func skipBlanks() -> Bool {
        let blanks = rest.prefix(while: Self.isBlank)
        rest = rest.dropFirst(blanks.count)
        return !blanks.isEmpty
    }

    private mutating func skipComment() {
        if rest.first == UInt8(ascii: "#") { rest = rest.drop { $0 != Self.lineFeed } }
    }

    /// Reads LF, CR LF or the file's end. Returns `false` for anything else.
    private mutating func takeLineEnd() -> Bool {
        if rest.first == 0x0D, rest.dropFirst().first.map({ $0 == Self.lineFeed }) ?? true { rest = rest.dropFirst() }
        guard let byte = rest.first else { return true }
        guard byte == Self.lineFeed else { return false }
        rest = rest.dropFirst()
        line += 1
        return true
    }
}
