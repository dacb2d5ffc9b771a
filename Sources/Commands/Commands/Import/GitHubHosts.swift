/// The file `hosts.yml` of GitHub's `gh`, where it keeps tokens itself (`gh auth login --insecure-storage`).
///
/// A token has the same names as in gh's keyring: the service `gh:HOST` and the user as account. The reader accepts the
/// YAML that `gh` writes: maps of plain scalars in block style. Another notation of a scalar is an error.
package enum GitHubHosts {
    private static let program: StaticString = "gh"

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        let content = try ForeignFile.read(path, of: program)
        var reader = Reader()
        try content.withExposedBytes { (bytes) throws(ImportError) in
            try bytes.forEachLine { (line, number) throws(ImportError) in
                // A byte order mark isn't part of a host.
                let start = number == 1 && line.starts(with: "\u{FEFF}", at: 0) ? 3 : 0
                guard reader.take(line.extracting(start..<line.count)) else {
                    throw ImportError(problem: .malformed(line: number), program: program)
                }
            }
        }
        var result = try CredentialImport()
        for token in reader.tokens {
            try await result.add(
                service: "gh:\(token.host)", account: token.user ?? reader.users[token.host] ?? "",
                label: nil, secret: token.secret.value.duplicate(), name: .entry(token.host))
        }
        return result
    }

    private struct Token {
        let host: String
        /// `nil` for the host's own token, which is the current user's.
        let user: String?
        let secret: Box<Secret<Password>>
    }

    /// The names of the maps that the present line is in, by their indentation.
    private struct Reader {
        var tokens: [Token] = []
        var users: [String: String] = [:]
        private var parents: [(indentation: Int, name: String)] = []

        /// Returns whether the line is as `gh` writes it.
        mutating func take(_ line: Span<UInt8>) -> Bool {
            var indentation = 0
            while indentation < line.count && line[indentation] == 0x20 { indentation += 1 }
            let text = line.extracting(indentation..<line.count)
            if text.isEmpty || text[0] == 0x23 { return true }
            if text[0] == 0x09 { return false }
            // A host may have a port, so the colon that ends a name is the one before a space or the end.
            guard let colon = Self.endOfName(text), let bare = Self.unquoted(text.extracting(0..<colon)),
                let name = text.extracting(bare).publicText(), !name.isEmpty
            else { return false }
            let rest = text.extracting(min(colon + 2, text.count)..<text.count)
            guard let range = Self.unquoted(rest) else { return false }
            let value = rest.extracting(range)
            // An unquoted word for no value.
            if range.lowerBound == 0, ["oauth_token", "user"].contains(name), let word = value.publicText(),
                Self.nothing.contains(word)
            {
                return false
            }
            while let last = parents.last, last.indentation >= indentation { parents.removeLast() }
            let path = parents.map(\.name)
            if value.isEmpty {
                parents.append((indentation, name))
                return parents.count <= 8
            }
            switch (name, path.count) {
            case ("oauth_token", 1): tokens.append(Token(host: path[0], user: nil, secret: Box(Secret(copying: value))))
            case ("oauth_token", 3) where path[1] == "users":
                tokens.append(Token(host: path[0], user: path[2], secret: Box(Secret(copying: value))))
            case ("user", 1): users[path[0]] = value.publicText()
            default: break
            }
            return true
        }

        private static let nothing = ["~", "null", "Null", "NULL"]

        private static func endOfName(_ text: Span<UInt8>) -> Int? {
            var from = 0
            while let colon = text.index(of: 0x3A, from: from) {
                if colon + 1 == text.count || text[colon + 1] == 0x20 { return colon }
                from = colon + 1
            }
            return nil
        }

        /// The range of a plain scalar, or of one in quotes without escapes; `nil` for any other notation.
        private static func unquoted(_ text: Span<UInt8>) -> Range<Int>? {
            var end = text.count
            while end > 0, [0x20, 0x09, 0x0D].contains(text[end - 1]) { end -= 1 }
            let text = text.extracting(0..<end)
            guard !text.isEmpty, text[0] != 0x23 else { return 0..<0 }
            switch text[0] {
            case 0x22, 0x27:
                guard text.count >= 2, text[text.count - 1] == text[0] else { return nil }
                let inner = text.extracting(1..<(text.count - 1))
                guard inner.index(of: text[0]) == nil, inner.index(of: 0x5C) == nil else { return nil }
                return 1..<(text.count - 1)
            // The start of a flow, an anchor, an alias, a tag, a block or a directive.
            case 0x5B, 0x7B, 0x26, 0x2A, 0x21, 0x7C, 0x3E, 0x25, 0x40, 0x60: return nil
            default:
                // A comment may follow.
                return text.places(of: " #").isEmpty ? 0..<text.count : nil
            }
        }
    }
}
