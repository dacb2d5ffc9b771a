internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// Why a file or folder isn't used: what it is, where, and what is wrong with it.
enum FileProblem {
    static func refuse(
        _ what: StaticString, _ path: String, _ problem: StaticString,
        hint: LogMessage? = "use a file of your own, in a folder that only you can write"
    ) -> StoreError {
        StoreError(.permissionDenied, "the \(what) \(loggable(path)) \(problem)", hint: hint)
    }

    /// Says what an errno means for opening or making a file.
    static func system(_ what: StaticString, _ path: String, number: Int32, hint: LogMessage? = nil) -> StoreError {
        let path = loggable(path)
        let platform = PlatformCode.errno(number)
        return switch number {
        case ENOENT, ENOTDIR: StoreError(.unavailable, "there is no \(what) \(path)", hint: hint, platform: platform)
        case EEXIST: StoreError(.conflict, "the \(what) \(path) exists already", hint: hint, platform: platform)
        case EACCES, EPERM, ELOOP:
            StoreError(.permissionDenied, "the \(what) \(path) can't be used", hint: hint, platform: platform)
        case ENOSPC, EDQUOT, EROFS, EIO, EFBIG:
            StoreError(.cannotWrite, "the \(what) \(path) can't be written", hint: hint, platform: platform)
        default: StoreError(.unavailable, "the \(what) \(path) can't be used", hint: hint, platform: platform)
        }
    }

    static func loggable(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file, which people name", unredacted: path)
    }
}
