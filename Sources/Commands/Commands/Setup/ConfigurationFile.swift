internal import Glibc

/// A tool's configuration file of this user. A new file with the same mode replaces it in one step; a link to it stays
/// a link.
struct ConfigurationFile: Sendable {
    /// As the tool names it.
    let path: String

    private static let maximumByteCount = 4 << 20

    var shown: LoggableText { LoggableText(reviewed: "the path of a tool's configuration", unredacted: path) }

    /// The content; empty where there isn't a file. Throws for one that another user may write, or that isn't a file.
    func read() throws(CommandFailure) -> Secret<MessageBody> {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor < 0 {
            if errno == ENOENT {
                // Written as a file, it would be a link no more.
                let isLink = (try? FileStatus.ofLink(at: path))?.isSymbolicLink == true
                if isLink { throw unusable("is a link that leads nowhere") }
                return Secret(copying: [UInt8]().span)
            }
            throw unusable("can't be read: \(SystemErrorNumber(errno))")
        }
        defer { close(descriptor) }
        guard let status = try? FileStatus.of(descriptor: descriptor), status.isRegularFile else {
            throw unusable("isn't a file")
        }
        guard status.isOwn else { throw unusable("belongs to another user") }
        return try mapError(
            { (_: CommandFailure) in unusable("is too large, or can't be read") },
            of: SecretInput.readAll(from: descriptor, as: MessageBody.self, limit: Self.maximumByteCount))
    }

    /// Writes the content; the old one is whole until then.
    func write(_ content: borrowing Secret<MessageBody>) throws(CommandFailure) {
        let target = resolved
        let mode = (try? FileStatus.of(target)).map { $0.mode & 0o777 } ?? 0o600
        try mappingError({ (error: SystemErrorNumber) in
            CommandFailure(
                .cannotWrite, "setup.cannot-write",
                "can't write \"\(shown)\", which is unchanged: \(error)",
                hint: "make sure that you own its directory and that the disk isn't full")
        }) { () throws(SystemErrorNumber) in
            try content.withExposedBytes { (bytes) throws(SystemErrorNumber) in
                try PrivateFile.replace(target, with: bytes, mode: mode)
            }
        }
    }

    func remove() { unsafe unlink(resolved) }

    /// Keeps git from writing, which writes the file only while it has FILE.lock for itself (lockfile.h in its sources).
    func lockedAsByGit(_ body: () throws -> Void) throws {
        let lock = resolved + ".lock"
        try withSignalsBlocked {
            var number = Self.create(lock)
            // git takes some milliseconds, and so does this.
            for _ in 0..<200 where number == EEXIST {
                var pause = timespec(tv_sec: 0, tv_nsec: 5_000_000)
                unsafe nanosleep(&pause, nil)
                number = Self.create(lock)
            }
            guard number != EEXIST else {
                throw CommandFailure(
                    .tryAgain, "setup.busy", "\(shown).lock exists, so git or another program is writing the file",
                    hint: "run the command again; if no program is writing it, remove \(shown).lock")
            }
            // Elsewhere git can't write either, and writing says why.
            defer { if number == 0 { FileNames.remove(lock) } }
            try body()
        }
    }

    private static func create(_ path: String) -> Int32 {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { return errno }
        close(descriptor)
        return 0
    }

    /// Where a link leads.
    private var resolved: String { FileSystem.resolving(path) ?? path }

    private func unusable(_ what: LogMessage) -> CommandFailure {
        CommandFailure(
            .refused, "setup.unusable", "\(shown) \(what), so it wasn't changed",
            hint: "change the file yourself; see how: add --print")
    }
}

/// Looking at a tool's configuration where it lies, in guarded memory: tools keep passwords in these files too.
extension Span<UInt8> {
    /// Whether a section of this name is as wanted: git takes several, and tells no upper from lower case.
    func hasSection(_ name: String, where isWanted: (Span<UInt8>) -> Bool) -> Bool {
        var start = 0
        while let lines = extracting(start..<count).section(name, ignoringCase: true) {
            if isWanted(extracting(start + lines.lowerBound..<start + lines.upperBound)) { return true }
            start += lines.upperBound
        }
        return false
    }

    /// The lines of a section, its header left out: `[name]` up to the next header or the end. `nil` for none.
    func section(_ name: String, ignoringCase: Bool = false) -> Range<Int>? {
        var start: Int?
        for line in lines {
            let text = extracting(trimmed(line))
            if let start, text.starts(with: "[") { return start..<line.lowerBound }
            if start == nil, text.isHeader(of: name, ignoringCase) { start = line.upperBound }
        }
        return start.map { $0..<count }
    }

    /// The names between brackets of the headers that are wanted.
    func headers(where isWanted: (String) -> Bool) -> [String] {
        lines.compactMap { line in
            let text = extracting(trimmed(line))
            guard text.starts(with: "["), let end = text.index(of: UInt8(ascii: "]")) else { return nil }
            return text.extracting(1..<end).publicText().flatMap { isWanted($0) ? $0 : nil }
        }
    }

    /// The line of a section that sets a name, with its end. To pip, a hyphen and a low line are the same.
    func line(setting name: StaticString, in section: Range<Int>) -> Range<Int>? {
        lines.first { line in
            guard section.contains(line.lowerBound) else { return false }
            let text = extracting(trimmed(line))
            // A name may be quoted, and have capitals.
            let start = !text.isEmpty && (text[0] == UInt8(ascii: "\"") || text[0] == UInt8(ascii: "'")) ? 1 : 0
            guard text.startsIgnoringCase(with: name.description, at: start) else { return false }
            var next = start + name.utf8CodeUnitCount + start
            while next < text.count, text[next] == 0x20 || text[next] == 0x09 { next += 1 }
            return next < text.count && (text[next] == UInt8(ascii: "=") || text[next] == UInt8(ascii: ":"))
        }
    }

    /// The indentation of a section's first setting. Python's reader takes a line that is indented further than the
    /// setting before it for a continuation of that setting.
    func indentation(of section: Range<Int>) -> String {
        for line in lines where section.contains(line.lowerBound) {
            let text = trimmed(line)
            guard !text.isEmpty, self[text.lowerBound] != UInt8(ascii: "#"), self[text.lowerBound] != UInt8(ascii: ";")
            else { continue }
            return extracting(line.lowerBound..<text.lowerBound).publicText() ?? ""
        }
        return ""
    }

    /// Whether a line that isn't a comment has Latchkey as a command or as a helper's name: an address may have the word,
    /// too.
    var namesUs: Bool {
        lines.contains { line in
            let text = extracting(trimmed(line))
            guard !text.isEmpty, text[0] != UInt8(ascii: "#"), text[0] != UInt8(ascii: ";") else { return false }
            return ["latchkey helper ", "\"latchkey\"", "-latchkey\""].contains { !text.places(of: $0).isEmpty }
                || text.places(of: "/latchkey").last?.upperBound == text.count
        }
    }

    /// Whether a line is this, but for white space around it and around its equals sign.
    func hasLine(_ wanted: String) -> Bool {
        let wanted = wanted.filter { $0 != " " }
        return lines.contains { line in
            let text = extracting(trimmed(line))
            return ASCII.equal(text, wanted)
                || text.publicText()?.filter { $0 != " " && $0 != "\t" }.hasSameOctets(as: wanted) == true
        }
    }

    /// Whether a trimmed line is `[name]`, which a comment may follow.
    private func isHeader(of name: String, _ ignoringCase: Bool) -> Bool {
        let header = "[\(name)]"
        let start = extracting(0..<Swift.min(header.utf8.count, count))
        guard ignoringCase ? startsIgnoringCase(with: header, at: 0) : ASCII.equal(start, header) else { return false }
        let rest = extracting(header.utf8.count..<count)
        let comment = rest.indices.first { !Self.isSpace(rest[$0]) }
        return comment.map { rest[$0] == UInt8(ascii: "#") || rest[$0] == UInt8(ascii: ";") } ?? true
    }

    private func startsIgnoringCase(with text: String, at start: Int) -> Bool {
        guard start + text.utf8.count <= count else { return false }
        return zip(start..., text.utf8).allSatisfy { place, byte in
            self[place] == byte || ASCII.isLetter(byte) && self[place] | 0x20 == byte | 0x20
                || byte == UInt8(ascii: "-") && self[place] == UInt8(ascii: "_")
        }
    }

    /// Whether one of the lines, without white space and quotation marks, begins with one of these.
    func hasLine(beginningWith beginnings: [String]) -> Bool {
        lines.contains { line in
            var text: [UInt8] = []
            for index in line where !Self.isSpace(self[index]) {
                if self[index] != UInt8(ascii: "\""), self[index] != UInt8(ascii: "'") { text.append(self[index]) }
                if text.count == 64 { break }
            }
            return beginnings.contains { text.starts(with: $0.utf8) }
        }
    }

    /// Whether a tool couldn't read the lines: a header lacks its `]`, or where quotes count, as in git's file, a quotation
    /// mark is still open at the end of a line. A backslash at the end continues a line.
    func hasOpenLine(quotesCount: Bool) -> Bool {
        var (isQuoted, isContinued) = (false, false)
        for line in lines {
            let text = extracting(trimmed(line))
            // In Python's and AWS's files an indented line continues a value.
            let isHeader =
                !isContinued && text.starts(with: "[") && (quotesCount || self[line.lowerBound] == text[0])
            var (isClosed, isEscaped) = (false, false)
            scan: for index in text.indices {
                switch text[index] {
                case _ where isEscaped: isEscaped = false
                case UInt8(ascii: "\\") where quotesCount: isEscaped = true
                case UInt8(ascii: "\"") where quotesCount: isQuoted.toggle()
                case UInt8(ascii: "#") where quotesCount && !isQuoted: break scan
                case UInt8(ascii: ";") where quotesCount && !isQuoted: break scan
                case UInt8(ascii: "]") where !isQuoted: isClosed = true
                default: break
                }
            }
            if isHeader && !isClosed || isQuoted && !isEscaped { return true }
            isContinued = isEscaped
        }
        return isQuoted
    }

    /// How many bytes of a byte order mark it begins with.
    var markCount: Int { starts(with: "\u{FEFF}") ? 3 : 0 }

    private func trimmed(_ range: Range<Int>) -> Range<Int> {
        let start = range.lowerBound == 0 ? markCount : range.lowerBound
        return trimmed(start..<range.upperBound, where: Self.isSpace)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

/// One change of a text: a range and its replacement. Neither text is secret.
struct TextChange: Sendable {
    let place: Range<Int>
    let removed: String
    let inserted: String

    /// Puts lines at a place, which is the start of a line.
    static func inserting(_ lines: String, at place: Int) -> TextChange {
        TextChange(place: place..<place, removed: "", inserted: lines)
    }

    /// Puts lines at the end, on lines of their own.
    static func appending(_ lines: String, to text: Span<UInt8>) -> TextChange {
        var end = text.count
        if end > 0, text[end - 1] == 0x0A { end -= 1 }
        let isWhole = end < text.count || text.isEmpty
        if isWhole, end > 0, text[end - 1] == 0x0D { end -= 1 }
        // A backslash would take the first of them for its own line's rest.
        let continues = end > 0 && text[end - 1] == UInt8(ascii: "\\")
        return inserting((isWhole ? "" : "\n") + (continues ? "\n" : "") + lines, at: text.count)
    }

    /// The text with the change made.
    func applied(to text: borrowing Secret<MessageBody>) -> Secret<MessageBody> {
        var result = SecretBuilder(capacity: text.byteCount + inserted.utf8.count)
        text.withExposedBytes { text in
            try? result.append(text.extracting(0..<place.lowerBound))
            try? result.append(publicText: inserted)
            try? result.append(text.extracting(place.upperBound..<text.count))
        }
        return result.finish(as: MessageBody.self)
    }
}
