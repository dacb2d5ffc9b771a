internal import Glibc
public import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

/// The key that a key file holds.
enum KeyFileKey: SecretPurpose { static var name: StaticString { "vault key file" } }

/// A file of 32 random bytes that opens a vault without a person.
public enum VaultKeyFile {
    package static let byteCount = 32

    /// Makes a key file (0600) with fresh random bytes, durably. The directory must exist.
    ///
    /// Throws `conflict` when there is something at `path` already, `permissionDenied`, `cannotWrite` or `unavailable`.
    public static func create(at path: String) throws(StoreError) {
        let key = try Sealing.randomKey(as: KeyFileKey.self)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else {
            if errno == ENOENT {
                throw StoreError(
                    .unavailable, "there is no directory for the key file \(FileProblem.loggable(path))",
                    hint: "make the directory first, or choose another path", platform: .errno(ENOENT))
            }
            throw FileProblem.system("key file", path, number: errno, hint: "choose another path")
        }
        var failure: Int32 = fchmod(descriptor, 0o600) == 0 ? 0 : errno
        if failure == 0 {
            var sink = FileDescriptorSecretSink(descriptor: descriptor)
            do throws(FileDescriptorSecretSink.WriteFailure) {
                try key.pour(into: &sink)
            } catch {
                failure = error.number
            }
        }
        if failure == 0 && fsync(descriptor) != 0 { failure = errno }
        close(descriptor)
        if failure == 0 { failure = PrivateDirectory.synchronise(of: path) }
        guard failure == 0 else {
            unsafe unlink(path)
            throw FileProblem.system("key file", path, number: failure)
        }
    }

    /// Reads a key file of this user alone.
    static func read(_ path: String) throws(StoreError) -> Secret<KeyFileKey> {
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw FileProblem.refuse("key file", path, "is a symbolic link") }
            throw FileProblem.system("key file", path, number: errno, hint: "\(Recovery.chooseKeyFile)")
        }
        defer { close(descriptor) }
        guard case .success(let status) = FileStatus.of(descriptor: descriptor) else {
            throw FileProblem.system("key file", path, number: errno)
        }
        try status.requirePrivateFile("key file", path)
        guard status.byteCount == byteCount else { throw wrongLength(path) }
        return try Secret(byteCount: byteCount) { (out) throws(StoreError) in
            let count = unsafe out.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress!, byteCount) }
            guard count == byteCount else { throw wrongLength(path) }
        }
    }

    private static func wrongLength(_ path: String) -> StoreError {
        StoreError(
            .wrongKey, "\(FileProblem.loggable(path)) is no key file: it must have exactly \(byteCount) bytes",
            hint: "name the file that was made with the vault")
    }
}
