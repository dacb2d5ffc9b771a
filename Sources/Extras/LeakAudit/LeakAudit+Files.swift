internal import Glibc
internal import LatchkeySystem

/// What was to be searched could not be read; `number` is the system's errno.
public struct CaptureFailed: Error, Sendable, Hashable {
    /// The file, folder or descriptor.
    public let path: String
    /// The system's errno.
    public let number: Int32
}

extension LeakAudit {
    /// Searches every regular file below a folder, and the files' names. Links are not followed.
    ///
    /// Throws when any of it can't be read: what wasn't searched isn't clean.
    public func capture(folder path: String) throws(CaptureFailed) {
        var names = ""
        var folders = [path]
        while let folder = folders.popLast() {
            for name in try Self.names(in: folder) {
                let entry = folder + "/" + name
                names += entry + "\n"
                var status = stat()
                guard unsafe lstat(entry, &status) == 0 else { throw CaptureFailed(path: entry, number: errno) }
                switch status.st_mode & S_IFMT {
                case S_IFDIR: folders.append(entry)
                case S_IFREG: try capture(file: entry)
                default: break
                }
            }
        }
        capture(names, as: "names of files in \(path)")
    }

    /// Searches one file.
    ///
    /// Throws when it can't be read, and for a link.
    public func capture(file path: String) throws(CaptureFailed) {
        capture(try Self.contents(of: path), as: path)
    }

    /// Searches the arguments and the environment that a process was started with (proc(5)), while it runs.
    ///
    /// Throws when there is no such process, or it is another user's.
    public func capture(process number: Int32) throws(CaptureFailed) {
        for part in ["cmdline", "environ"] { try capture(file: "/proc/\(number)/\(part)") }
    }

    private static func names(in folder: String) throws(CaptureFailed) -> [String] {
        guard let directory = unsafe opendir(folder) else { throw CaptureFailed(path: folder, number: errno) }
        defer { unsafe closedir(directory) }
        var names: [String] = []
        while let entry = unsafe readdir(directory) {
            let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
                unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private static func contents(of path: String) throws(CaptureFailed) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw CaptureFailed(path: path, number: errno) }
        defer { close(descriptor) }
        return try mapError(
            { (error: SystemErrorNumber) in CaptureFailed(path: path, number: error.number) },
            of: DescriptorBytes.all(of: descriptor, limit: .max))
    }
}
