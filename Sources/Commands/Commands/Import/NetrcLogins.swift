/// The logins in `.netrc`, which curl, git, Go, pip and others read (the format of ftp(1), with curl's quoted words).
///
/// A login has the service `git:https://MACHINE`, for which git and Go ask.
package enum NetrcLogins {
    private static let program: StaticString = "curl"

    /// Throws `ImportError` and what memory throws.
    package static func read(_ path: String) async throws -> CredentialImport {
        try await CredentialImport.reading(path, of: program) { content in
            var result = try CredentialImport()
            var reader = Reader()
            try content.withExposedBytes { (bytes) throws(ImportError) in try reader.read(bytes) }
            for line in reader.otherPasswords { result.skip("line \(line), a comment or macro with a password") }
            var cuts: [Range<Int>] = []
            for login in reader.logins {
                let name = LogMessage.entry(login.machine ?? "default")
                // Not every reader takes the same one of two.
                guard login.passwords.count <= 1, login.users.count <= 1 else {
                    result.skip("\(name), which has two logins or passwords")
                    continue
                }
                guard !login.hasAccount else {
                    result.skip("\(name), whose account isn't imported")
                    continue
                }
                guard let place = login.passwords.first else { continue }
                guard let machine = login.machine, HostName.isSound(machine),
                    let user = content.withExposedBytes({ login.users.first?.text($0) }),
                    let password = content.withExposedBytes({ place.decoded($0, as: Password.self) })
                else {
                    result.skip(name)
                    continue
                }
                let host = ASCII.lowercased(machine)
                try await result.add(
                    service: "git:https://\(host)", account: user, label: "Git: https://\(host)/",
                    secret: password, name: name)
                cuts += content.withExposedBytes { login.cuts($0, after: cuts.last?.upperBound ?? 0) }
            }
            return (result, cuts.isEmpty && result.skippedCount == 0 ? nil : .cuts(cuts))
        }
    }

    private struct Login {
        /// `nil` for the login of every other machine.
        var machine: String?
        /// The keywords of the login with their values.
        var places: [Range<Int>]
        var users: [Word] = []
        var passwords: [Word] = []
        var hasAccount = false

        /// The ranges to remove with the login: its words with the white space between them, and lines without other
        /// text.
        ///
        /// - Parameter former: the end of the previous range.
        func cuts(_ bytes: Span<UInt8>, after former: Int) -> [Range<Int>] {
            var cuts: [Range<Int>] = []
            for place in places {
                if let last = cuts.last,
                    (last.upperBound..<place.lowerBound).allSatisfy({ isWhiteSpace(bytes[$0]) })
                {
                    cuts[cuts.count - 1] = last.lowerBound..<place.upperBound
                } else {
                    cuts.append(place)
                }
            }
            return cuts.map { cut in
                var (start, end) = (cut.lowerBound, cut.upperBound)
                while start > former, bytes[start - 1] == 0x20 || bytes[start - 1] == 0x09 { start -= 1 }
                while end < bytes.count, bytes[end] == 0x20 || bytes[end] == 0x09 || bytes[end] == 0x0D { end += 1 }
                // After other text the end of the line stays. Before other text the white space stays.
                guard start == 0 || bytes[start - 1] == 0x0A else { return cut }
                guard end < bytes.count else { return start..<end }
                return start..<(bytes[end] == 0x0A ? end + 1 : cut.upperBound)
            }
        }
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

        /// A name as text. Names aren't secret.
        func text(_ bytes: Span<UInt8>) -> String? {
            decoded(bytes, as: MessageBody.self)?.withExposedBytes { $0.publicText() }
        }
    }

    private struct Reader {
        var logins: [Login] = []
        /// The lines of comments and macros that have a password.
        var otherPasswords: [Int] = []
        private var position = 0
        /// How many lines there are before the last place that was noted.
        private var counted = (place: 0, lines: 0)

        mutating func read(_ bytes: Span<UInt8>) throws(ImportError) {
            while let word = try next(bytes) {
                let keyword = word.text(bytes)
                switch keyword {
                case "machine":
                    guard let value = try value(bytes), let machine = value.text(bytes) else { throw malformed(bytes) }
                    let place = word.place.lowerBound..<value.place.upperBound
                    logins.append(Login(machine: machine, places: [place]))
                case "default": logins.append(Login(places: [word.place]))
                // A macro goes to the next empty line.
                case "macdef":
                    let start = position
                    while position < bytes.count, !bytes.starts(with: "\n\n", at: position),
                        !bytes.starts(with: "\n\r\n", at: position)
                    { position += 1 }
                    noteOther(start..<position, bytes)
                case "login", "account", "password":
                    guard let index = logins.indices.last, let value = try value(bytes) else { throw malformed(bytes) }
                    logins[index].places.append(word.place.lowerBound..<value.place.upperBound)
                    if keyword == "login" { logins[index].users.append(value) }
                    if keyword == "account" { logins[index].hasAccount = true }
                    if keyword == "password" { logins[index].passwords.append(value) }
                default: throw malformed(bytes)
                }
            }
        }

        /// Notes a comment or a macro from which a password would be lost without being told.
        private mutating func noteOther(_ place: Range<Int>, _ bytes: Span<UInt8>) {
            if bytes.extracting(place).assigns("password", by: " \t\r\n") {
                counted.lines += (counted.place..<place.lowerBound).count { bytes[$0] == 0x0A }
                counted.place = place.lowerBound
                otherPasswords.append(1 + counted.lines)
            }
        }

        /// The word behind a keyword. Readers don't agree on one that begins as a comment.
        private mutating func value(_ bytes: Span<UInt8>) throws(ImportError) -> Word? {
            var start = position
            while start < bytes.count, isWhiteSpace(bytes[start]) { start += 1 }
            guard !bytes.starts(with: "#", at: start) else {
                position = start
                throw malformed(bytes)
            }
            return try next(bytes)
        }

        private mutating func next(_ bytes: Span<UInt8>) throws(ImportError) -> Word? {
            while position < bytes.count {
                if bytes[position] == UInt8(ascii: "#") {
                    let start = position
                    position = bytes.index(of: 0x0A, from: position) ?? bytes.count
                    noteOther(start..<position, bytes)
                } else if isWhiteSpace(bytes[position]) {
                    position += 1
                } else {
                    break
                }
            }
            guard position < bytes.count else { return nil }
            let start = position
            guard bytes[start] == UInt8(ascii: "\"") else {
                while position < bytes.count, bytes[position] > 0x20 { position += 1 }
                guard position > start else { throw malformed(bytes) }
                return Word(start..<position, bytes)
            }
            position += 1
            while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != 0x0A {
                position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
            }
            guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
                position = start
                throw malformed(bytes)
            }
            position += 1
            return Word(start..<position, bytes)
        }

        private func malformed(_ bytes: Span<UInt8>) -> ImportError {
            ImportError(problem: .malformed(line: line(position, bytes)), program: program)
        }

        private func line(_ position: Int, _ bytes: Span<UInt8>) -> Int {
            1 + (0..<position).count { bytes[$0] == 0x0A }
        }
    }
}

/// Whether a byte separates the words of a netrc.
private func isWhiteSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
