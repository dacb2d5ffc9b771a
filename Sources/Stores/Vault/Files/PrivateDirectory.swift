internal import Credentials
internal import Glibc

/// Directories of this user alone.
enum PrivateDirectory {
    /// Makes a directory and those above it where they are missing, with mode 0700 whatever the umask.
    static func make(_ path: String) throws(StoreError) {
        var made = path.hasPrefix("/") ? "" : "."
        for part in path.split(separator: "/") {
            made += "/" + part
            if unsafe mkdir(made, 0o700) == 0 {
                unsafe chmod(made, 0o700)
            } else if errno != EEXIST {
                throw FileProblem.system("directory", made, number: errno)
            }
        }
    }
}
