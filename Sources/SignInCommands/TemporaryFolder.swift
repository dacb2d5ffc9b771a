internal import Glibc
internal import LatchkeyLog
internal import LatchkeyTerminal

/// A folder of this process alone (0700), removed with all that is in it when the value ends.
struct TemporaryFolder: ~Copyable {
    let path: String

    init(in parent: String, prefix: String) throws {
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            let shown = LoggableText(reviewed: "TMPDIR or /tmp", unredacted: parent)
            throw CommandFailure(
                .cannotWrite, "demo.no-folder", "no folder can be made in \(shown) (errno \(errno))",
                hint: "set TMPDIR to a folder that can be written")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.removeTree(path)
    }

    /// Removes a folder with its content. Links are removed, never followed.
    private static func removeTree(_ path: String) {
        if let folder = unsafe opendir(path) {
            while let entry = unsafe readdir(folder) {
                let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                    unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                }
                if name == "." || name == ".." { continue }
                let inner = "\(path)/\(name)"
                if unsafe unlink(inner) != 0 { removeTree(inner) }
            }
            unsafe closedir(folder)
        }
        unsafe rmdir(path)
    }
}
