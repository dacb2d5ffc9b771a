internal import Glibc
internal import LatchkeyCredentials

/// Directories of this user alone.
enum PrivateDirectory {
    /// Makes a directory and those above it where they are missing, durably, with mode 0700 whatever the umask.
    static func make(_ path: String) throws(StoreError) {
        var above = path.hasPrefix("/") ? "/" : "."
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/" + part
            if unsafe mkdir(made, 0o700) == 0 {
                unsafe chmod(made, 0o700)
                let number = synchronise(above)
                guard number == 0 else { throw FileProblem.system("directory", above, number: number) }
            } else if errno != EEXIST {
                throw FileProblem.system("directory", made, number: errno)
            }
            above = made
        }
    }

    /// Makes the names in a directory last when the power fails: a rename alone can be lost. Returns 0 or an errno.
    static func synchronise(_ path: String) -> Int32 {
        let descriptor = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // Names are data of a directory; its times may be lost.
        return fdatasync(descriptor) == 0 ? 0 : errno
    }

    /// The same for the directory of a file.
    static func synchronise(of file: String) -> Int32 { synchronise(containing(file)) }

    /// The directory of a file.
    static func containing(_ file: String) -> String {
        let end = file.lastIndex(of: "/")
        return end.map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? "."
    }
}
