internal import Glibc

/// A folder of this process alone (0700), removed with all that is in it when the value ends.
package struct TemporaryFolder: ~Copyable {
    package let path: String

    package init(in parent: String, prefix: String) throws(CommandFailure) {
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else {
            let number = errno
            let shown = LoggableText(reviewed: "a directory of the environment", unredacted: parent)
            throw CommandFailure(
                .cannotWrite, "folder.not-made", "can't make a directory in \"\(shown)\": \(SystemErrorNumber(number))",
                hint: "allow writing there, free some space, or set XDG_RUNTIME_DIR to a private directory")
        }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        Self.removeTree(path)
    }

    /// Removes a folder with its content. Links are removed, never followed.
    private static func removeTree(_ path: String) {
        for name in (try? FileSystem.names(in: path)) ?? [] {
            let inner = "\(path)/\(name)"
            if unsafe unlink(inner) != 0 { removeTree(inner) }
        }
        unsafe rmdir(path)
    }
}
