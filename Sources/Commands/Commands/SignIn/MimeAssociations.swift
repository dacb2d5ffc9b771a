internal import Glibc
internal import LatchkeySystem

/// Which desktop entry is taken for what: the file `mimeapps.list` (XDG MIME Applications Specification, section
/// "Default Application").
///
/// The file is everybody's who sets a default: lines that aren't ours stay as they are. One that is a symbolic link,
/// into a repository of dot files for example, is written where it leads, and stays a link.
struct MimeAssociations {
    /// Where the file is, or will be.
    let path: String

    typealias Failure = PrivateFile.Failure

    private static let section = "[Default Applications]"
    private static let maximumByteCount = 1 << 20

    /// Makes an entry the one that is taken for a scheme, in place of any other.
    func set(_ scheme: String, to entry: String) throws(Failure) {
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

    /// Takes an entry away where it is the one that is taken for a scheme.
    func remove(_ scheme: String, _ entry: String) throws(Failure) {
        let line = "x-scheme-handler/\(scheme)=\(entry)"
        try edit { lines in lines.removeAll { $0 == line || $0 == line + ";" } }
    }

    /// One process at a time, each by the file as the one before left it; a reader sees the old file or the new one.
    private func edit(_ change: (inout [String]) -> Void) throws(Failure) {
        let file = try target()
        let folder = file.lastIndex(of: "/").map { String(file[..<$0]) } ?? "."
        try PrivateFile.makeFolder(folder)
        let lock = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0 else { throw Failure(number: errno) }
        defer { close(lock) }
        try Self.wait(for: lock)
        var lines = try Self.lines(of: file)
        let before = lines
        change(&lines)
        if lines != before { try PrivateFile.replace(file, with: lines.joined(separator: "\n")) }
    }

    /// Whoever holds the lock writes one small file.
    private static func wait(for lock: Int32) throws(Failure) {
        for _ in 0..<1000 {
            if flock(lock, LOCK_EX | LOCK_NB) == 0 { return }
            guard errno == EWOULDBLOCK || errno == EINTR else { throw Failure(number: errno) }
            usleep(10_000)
        }
        throw Failure(number: EWOULDBLOCK)
    }

    /// Where a link leads, or the path itself. Throws for a link that leads nowhere, and for a file of another user.
    private func target() throws(Failure) -> String {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else { throw Failure(number: errno) }
            return path
        }
        guard unsafe stat(path, &status) == 0, let resolved = unsafe realpath(path, nil) else {
            throw Failure(number: errno)
        }
        defer { unsafe free(resolved) }
        guard status.st_uid == geteuid(), status.st_mode & S_IFMT == S_IFREG else { throw Failure(number: EPERM) }
        return unsafe String(cString: resolved)
    }

    private static func lines(of file: String) throws(Failure) -> [String] {
        let bytes = try nilIf(
            { (error: Failure) in error.number == ENOENT }, of: PrivateFile.read(file, limit: maximumByteCount))
        guard let bytes else { return [] }
        let text = String(decoding: bytes, as: UTF8.self)
        // What isn't UTF-8 would not come back as it was.
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw Failure(number: EILSEQ) }
        return text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }
}
