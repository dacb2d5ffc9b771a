internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem

/// The logins in `.netrc`, which curl, git, Go, pip and others read (the format of ftp(1), with curl's quoted words).
///
/// A login is kept under the service `git:https://MACHINE`: git and Go ask for it there.
package enum NetrcLogins {
    private static let program: StaticString = "curl"

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        let content = try ForeignFile.read(path, of: program)
        var reader = Reader()
        try content.withExposedBytes { (bytes) throws(ImportError) in try reader.read(bytes) }
        var result = try CredentialImport()
        var cuts: [Range<Int>] = []
        for login in reader.logins {
            guard let place = login.password else { continue }
            let name = LogMessage.entry(login.machine ?? "default")
            guard let machine = login.machine, let user = login.user,
                let password = content.withExposedBytes({ Word(place, $0).decoded($0, as: Password.self) })
            else {
                result.skip(name)
                continue
            }
            try await result.add(
                service: "git:https://\(machine)", account: user, label: "Git: https://\(machine)/", secret: password,
                name: name)
            cuts.append(login.place)
        }
        if !cuts.isEmpty { result.files = [PlainSecretFile(path, content, .cuts(cuts), of: program)] }
        return result
    }

    private struct Login {
        /// `nil` for the login of every other machine.
        var machine: String?
        var user: String?
        var password: Range<Int>?
        var place: Range<Int>
    }

    /// A word of the file, with its quotation marks if it has any.
    private struct Word {
        let place: Range<Int>
        let isQuoted: Bool

        init(_ place: Range<Int>, _ bytes: Span<UInt8>) {
            self.place = place
            isQuoted = bytes[place.lowerBound] == UInt8(ascii: "\"")
        }

        func decoded<Purpose: SecretPurpose>(_ bytes: Span<UInt8>, as purpose: Purpose.Type) -> Secret<Purpose>? {
            guard isQuoted else { return Secret(copying: bytes.extracting(place)) }
            var word = SecretBuilder(capacity: place.count)
            var index = place.lowerBound + 1
            while index < place.upperBound - 1 {
                var byte = bytes[index]
                if byte == UInt8(ascii: "\\") {
                    index += 1
                    let escaped: [UInt8: UInt8] = [
                        UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D, UInt8(ascii: "t"): 0x09,
                    ]
                    byte = escaped[bytes[index]] ?? bytes[index]
                }
                try? word.append(byte)
                index += 1
            }
            return word.finish(as: purpose)
        }

        /// A name, which is no secret.
        func text(_ bytes: Span<UInt8>) -> String? {
            decoded(bytes, as: MessageBody.self)?.withExposedBytes { $0.publicText() }
        }
    }

    private struct Reader {
        var logins: [Login] = []
        private var position = 0
        private var line = 1

        mutating func read(_ bytes: Span<UInt8>) throws(ImportError) {
            while let word = try next(bytes) {
                switch word.text(bytes) {
                case "machine":
                    guard let machine = try value(bytes)?.text(bytes) else { throw malformed }
                    logins.append(Login(machine: machine, place: word.place.lowerBound..<end(bytes)))
                case "default": logins.append(Login(place: word.place))
                // A macro goes to the next empty line.
                case "macdef":
                    while position < bytes.count, !bytes.starts(with: "\n\n", at: position) { position += 1 }
                case "login", "account", "password":
                    guard !logins.isEmpty, let value = try value(bytes) else { throw malformed }
                    let index = logins.count - 1
                    if word.text(bytes) == "login" { logins[index].user = value.text(bytes) }
                    if word.text(bytes) == "password" { logins[index].password = value.place }
                    logins[index].place = logins[index].place.lowerBound..<end(bytes)
                default: throw malformed
                }
            }
        }

        /// Behind the last word, and behind its line's end where nothing else stands before that.
        private func end(_ bytes: Span<UInt8>) -> Int {
            var end = position
            while end < bytes.count, bytes[end] == 0x20 || bytes[end] == 0x09 || bytes[end] == 0x0D { end += 1 }
            return end < bytes.count && bytes[end] == 0x0A ? end + 1 : position
        }

        /// The word behind a keyword. Readers don't agree on one that begins as a comment.
        private mutating func value(_ bytes: Span<UInt8>) throws(ImportError) -> Word? {
            var start = position
            while start < bytes.count, bytes[start] == 0x20 || (0x09...0x0D).contains(bytes[start]) { start += 1 }
            guard !bytes.starts(with: "#", at: start) else { throw malformed }
            return try next(bytes)
        }

        private mutating func next(_ bytes: Span<UInt8>) throws(ImportError) -> Word? {
            while position < bytes.count {
                let byte = bytes[position]
                if byte == UInt8(ascii: "#") {
                    position = bytes.index(of: 0x0A, from: position) ?? bytes.count
                } else if byte == 0x20 || (0x09...0x0D).contains(byte) {
                    if byte == 0x0A { line += 1 }
                    position += 1
                } else {
                    break
                }
            }
            guard position < bytes.count else { return nil }
            let start = position
            guard bytes[start] == UInt8(ascii: "\"") else {
                while position < bytes.count, bytes[position] > 0x20 { position += 1 }
                guard position > start else { throw malformed }
                return Word(start..<position, bytes)
            }
            position += 1
            while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != 0x0A {
                position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else { throw malformed }
            position += 1
            return Word(start..<position, bytes)
        }

        private var malformed: ImportError { ImportError(problem: .malformed(line: line), program: program) }
    }
}
