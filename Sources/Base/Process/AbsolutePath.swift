internal import Glibc

/// A path that stays the same when the working directory changes. Links in it are left alone.
package enum AbsolutePath {
    package static func of(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }
}
