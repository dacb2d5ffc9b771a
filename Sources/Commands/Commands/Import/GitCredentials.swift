/// The file of `git credential-store` (gitcredentials(7), git-credential-store(1)): a URL a line, with user and
/// password.
///
/// A password is stored under the service `git:https://host[:port][/path]`, as Git Credential Manager names it. Other
/// lines are skipped, as git does: comments, lines that begin with a byte order mark, hosts that git never asks for. A
/// line without an `@` contains no password.
package enum GitCredentials {
    private static let program: StaticString = "git"

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        try await CredentialImport.reading(path, of: program) { content in
            var result = try CredentialImport()
            var entries: [Entry] = []
            var cuts: [Range<Int>] = []
            content.withExposedBytes { bytes in
                let lines = bytes.lines
                bytes.forEachLine { line, number in
                    if let entry = Entry(line, number) {
                        entries.append(entry)
                        cuts.append(lines[number - 1])
                    } else if line.index(of: UInt8(ascii: "@")) != nil || line.hasLoginWithoutHost {
                        result.skip("line \(number), which isn't a URL with user and password")
                    }
                }
            }
            for entry in entries {
                let secret = entry.password.value.duplicate()
                try await result.add(
                    service: entry.service, account: entry.user, label: "Git: \(entry.label)", secret: secret,
                    name: "line \(entry.line)")
            }
            return (result, cuts.isEmpty && result.skippedCount == 0 ? nil : .cuts(cuts))
        }
    }

    /// One line.
    private struct Entry {
        let service: String
        let label: String
        let user: String
        let password: Box<Secret<Password>>
        let line: Int

        init?(_ line: Span<UInt8>, _ number: Int) {
            guard let scheme = line.index(of: 0x3A),
                let start = line.extracting(0..<min(scheme + 3, line.count)).publicText(),
                HostName.endOfScheme(in: start) == start.endIndex
            else { return nil }
            let rest = line.extracting((scheme + 3)..<line.count)
            // git writes an @ in a user or a password as %40. So the first @ ends them, and a second @ is an error. If
            // the host ends before the @, git sees an address without a user.
            guard let at = rest.index(of: 0x40), rest.index(of: 0x40, from: at + 1) == nil else { return nil }
            let login = rest.extracting(0..<at)
            guard let colon = login.index(of: 0x3A), !"/?#".utf8.contains(where: { login.index(of: $0) != nil }) else {
                return nil
            }
            guard let protocolName = line.extracting(0..<scheme).publicText(),
                // git writes the colon before a port as %3a.
                let host = Secret<MessageBody>(percentDecoding: rest.extracting((at + 1)..<rest.count)),
                let place = host.withExposedBytes({ $0.publicText() }), HostName.isSound(place.prefix { $0 != "/" }),
                let user = Secret<MessageBody>(percentDecoding: login.extracting(0..<colon)),
                let password = Secret<Password>(percentDecoding: login.extracting((colon + 1)..<login.count)),
                let name = user.withExposedBytes({ $0.publicText() })
            else { return nil }
            let trimmed = place.hasSuffix("/") ? String(place.dropLast()) : place
            self.line = number
            // git asks for such a login without a user.
            self.user = name.isEmpty ? GitExchange.accountOfNobody : name
            service = "git:\(protocolName)://\(trimmed)"
            label = "\(protocolName)://\(trimmed)/"
            self.password = Box(password)
        }
    }
}

extension Secret where Purpose: SecretPurpose {
    /// Decodes a part of a login as git does: a `%` without two hexadecimal digits stays a `%`. Returns `nil` for text
    /// that would decode to a NUL or a line break.
    fileprivate init?(percentDecoding bytes: Span<UInt8>) {
        var decoded = SecretBuilder(limit: bytes.count)
        var index = 0
        while index < bytes.count {
            let end = min(index + (bytes[index] == 0x25 ? 3 : 1), bytes.count)
            if (try? decoded.append(percentDecoding: bytes.extracting(index..<end))) == true {
                index = end
            } else {
                // Nothing of it was appended, because it begins with the `%`.
                guard (try? decoded.append(0x25)) != nil else { return nil }
                index += 1
            }
        }
        guard
            decoded.withExposedBytes({ $0.index(of: 0) == nil && $0.index(of: 0x0A) == nil })
        else { return nil }
        self = decoded.finish(as: Purpose.self)
    }
}

extension Span<UInt8> {
    /// Whether a colon in an address is followed by something other than a port, such as a password without its `@`.
    fileprivate var hasLoginWithoutHost: Bool {
        guard let mark = indices.first(where: { starts(with: "://", at: $0) }) else { return false }
        return ((mark + 3)..<count).contains {
            self[$0] == UInt8(ascii: ":") && $0 + 1 < count && !ASCII.isDigit(self[$0 + 1])
        }
    }
}
