internal import LatchkeyLog
internal import LatchkeySystem
internal import LatchkeySecrets

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

    /// One line. A class, because an array can't hold a secret itself.
    private struct Entry {
        final class Kept: Sendable {
            let value: Secret<Password>
            init(_ value: consuming Secret<Password>) { self.value = value }
        }

        let service: String
        let label: String
        let user: String
        let password: Kept
        let line: Int

        init?(_ line: Span<UInt8>, _ number: Int) {
            guard let scheme = line.index(of: 0x3A),
                let start = line.extracting(0..<min(scheme + 3, line.count)).publicText(),
                HostName.endOfScheme(in: start) == start.endIndex
            else { return nil }
            let rest = line.extracting((scheme + 3)..<line.count)
            // git writes an @ in a user or a password as %40, so the first one ends them, and a second one is a mistake.
            // What ends a host before it makes git see no user.
            guard let at = rest.index(of: 0x40), rest.index(of: 0x40, from: at + 1) == nil else { return nil }
            let login = rest.extracting(0..<at)
            guard let colon = login.index(of: 0x3A), !"/?#".utf8.contains(where: { login.index(of: $0) != nil }) else {
                return nil
            }
            guard let protocolName = line.extracting(0..<scheme).publicText(),
                // git writes the colon before a port as %3a.
                let host = PercentDecoding.decode(rest.extracting((at + 1)..<rest.count), as: MessageBody.self),
                let place = host.withExposedBytes({ $0.publicText() }), HostName.isSound(place.prefix { $0 != "/" }),
                let user = PercentDecoding.decode(login.extracting(0..<colon), as: MessageBody.self),
                let password = PercentDecoding.decode(login.extracting((colon + 1)..<login.count)),
                let name = user.withExposedBytes({ $0.publicText() })
            else { return nil }
            let trimmed = place.hasSuffix("/") ? String(place.dropLast()) : place
            self.line = number
            self.user = name
            service = "git:\(protocolName)://\(trimmed)"
            label = "\(protocolName)://\(trimmed)/"
            self.password = Kept(password)
        }
    }
}

/// Percent-encoding (RFC 3986, 2.1) into guarded memory.
enum PercentDecoding {
    /// Returns `nil` when a `%` isn't followed by two hexadecimal digits, or when a NUL or a line break is encoded.
    static func decode<Purpose: SecretPurpose>(
        _ bytes: Span<UInt8>, as purpose: Purpose.Type = Password.self
    ) -> Secret<Purpose>? {
        var isSound = true
        let secret = Secret<Purpose>(capacity: bytes.count) { target in
            var count = 0
            var index = 0
            while index < bytes.count {
                var byte = bytes[index]
                index += 1
                if byte == 0x25 {
                    guard index + 1 < bytes.count, let high = digit(bytes[index]), let low = digit(bytes[index + 1])
                    else {
                        isSound = false
                        return 0
                    }
                    byte = high << 4 | low
                    index += 2
                    if byte == 0 || byte == 0x0A { isSound = false }
                }
                target[count] = byte
                count += 1
            }
            return count
        }
        guard isSound else { return nil }
        return secret
    }

    static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}

extension Span<UInt8> {
    /// Whether something that isn't a port stands behind a colon of an address, as a password does whose `@` is missing.
    fileprivate var hasLoginWithoutHost: Bool {
        guard let mark = indices.first(where: { starts(with: "://", at: $0) }) else { return false }
        return ((mark + 3)..<count).contains {
            self[$0] == UInt8(ascii: ":") && $0 + 1 < count && !ASCII.isDigit(self[$0 + 1])
        }
    }
}
