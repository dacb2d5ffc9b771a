internal import Glibc

/// The desktop's default applications: the file `mimeapps.list` (XDG MIME Applications Specification, section "Default
/// Application").
///
/// Every program may set a default in the file, so other lines stay unchanged. If the file is a symbolic link, for example
/// into a repository of dot files, its target is written and the link stays.
struct MimeAssociations {
    /// The path of the file, which may not exist yet.
    let path: String

    private static let section = "[Default Applications]"
    private static let maximumByteCount = 1 << 20

    /// Makes an entry the default for a scheme.
    func set(_ scheme: String, to entry: String) throws(SystemErrorNumber) {
        try edit { lines in
            let key = "x-scheme-handler/\(scheme)="
            guard let start = lines.firstIndex(of: Self.section) else {
                if lines.last == "" { lines.removeLast() }
                lines += (lines.isEmpty ? [] : [""]) + [Self.section, key + entry, ""]
                return
            }
            let end = lines[(start + 1)...].firstIndex { $0.hasPrefix("[") } ?? lines.endIndex
            let others = lines[(start + 1)..<end].filter { !$0.hasPrefix(key) }
            lines.replaceSubrange((start + 1)..<end, with: [key + entry] + others)
        }
    }

    /// Removes an entry if it is the default for a scheme.
    func remove(_ scheme: String, _ entry: String) throws(SystemErrorNumber) {
        let line = "x-scheme-handler/\(scheme)=\(entry)"
        try edit { lines in lines.removeAll { $0 == line || $0 == line + ";" } }
    }

    /// One process at a time, each by the file as the one before left it; a reader sees the old file or the new one.
    private func edit(_ change: (inout [String]) -> Void) throws(SystemErrorNumber) {
        let file = try target()
        let folder = PrivateDirectory.containing(file)
        try PrivateDirectory.make(folder)
        let lock = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw SystemErrorNumber(errno) }
        defer { close(lock) }
        try Self.wait(for: lock)
        var lines = try Self.lines(of: file)
        let before = lines
        change(&lines)
        if lines != before { try PrivateFile.replace(file, with: lines.joined(separator: "\n")) }
    }

    /// Whoever holds the lock writes one small file.
    private static func wait(for lock: Int32) throws(SystemErrorNumber) {
        for _ in 0..<1000 {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw SystemErrorNumber(errno) }
            usleep(10_000)
        }
        throw SystemErrorNumber(EWOULDBLOCK)
    }

    /// The target of a link, or the path itself. Throws for a link without a target, and for a file of another user.
    private func target() throws(SystemErrorNumber) -> String {
        let link = try nilIf(
            { (error: SystemErrorNumber) in [ENOENT, ENOTDIR].contains(error.number) }, of: FileStatus.ofLink(at: path))
        if link == nil { return path }
        let status = try FileStatus.of(path)
        guard let resolved = FileSystem.resolving(path) else { throw SystemErrorNumber(errno) }
        guard status.isOwn, status.isRegularFile else { throw SystemErrorNumber(EPERM) }
        return resolved
    }

    private static func lines(of file: String) throws(SystemErrorNumber) -> [String] {
        let bytes = try nilIf(
            { (error: SystemErrorNumber) in error.number == ENOENT },
            of: PrivateFile.read(file, limit: maximumByteCount))
        guard let bytes else { return [] }
        let text = String(decoding: bytes, as: UTF8.self)
        // Text that isn't UTF-8 would be changed.
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw SystemErrorNumber(EILSEQ) }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
