internal import Glibc
public import LatchkeyCredentials
internal import LatchkeyLog

/// The key that a key file holds.
enum KeyFileKey: SecretPurpose { static var name: StaticString { "vault key file" } }

/// A file of 32 random bytes that opens a vault without a person.
public enum VaultKeyFile {
    package static let byteCount = 32

    /// Makes a key file (0600) with fresh random bytes, durably. The directory must exist.
    ///
    /// Throws `conflict` when there is something at `path` already, `permissionDenied`, `cannotWrite` or `unavailable`.
    public static func create(at path: String) throws(StoreError) {
        try checkName(path)
        let key = try Sealing.randomKey(as: KeyFileKey.self)
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { throw cannotCreate(path, number: errno) }
        var number: Int32 = fchmod(descriptor, 0o600) == 0 ? 0 : errno
        if number == 0 {
            var sink = FileDescriptorSecretSink(descriptor: descriptor)
            if let error = failure(FileDescriptorSecretSink.WriteFailure.self, of: try key.pour(into: &sink)) {
                number = error.number
            }
        }
        if number == 0 && fsync(descriptor) != 0 { number = errno }
        close(descriptor)
        if number == 0 { number = PrivateDirectory.synchronise(of: path) }
        guard number == 0 else {
            unsafe unlink(path)
            throw FileProblem.system("key file", path, number: number)
        }
    }

    /// Throws the errors of reading the file, or of creating a missing one, before the person gets a question.
    package static func check(at path: String) throws(StoreError) {
        var status = stat()
        if unsafe lstat(path, &status) == 0 {
            // Another command that makes it writes it within a moment.
            for _ in 0..<10 where status.st_size == 0 {
                usleep(10_000)
                unsafe lstat(path, &status)
            }
            _ = try read(path)
            return
        }
        try checkName(path)
        guard unsafe access(PrivateDirectory.containing(path), W_OK | X_OK) != 0 else { return }
        throw cannotCreate(path, number: errno)
    }

    private static func checkName(_ path: String) throws(StoreError) {
        guard !path.utf8.contains(0) else { throw FileProblem.refuse("key file", path, "has a NUL in its name") }
        guard VaultPath.isJournal(path) else { return }
        throw FileProblem.refuse(
            "key file", path, "has a name that is reserved for journals", hint: "choose another name")
    }

    private static func cannotCreate(_ path: String, number: Int32) -> StoreError {
        // The file itself may be missing, because it is created later.
        if number == ENOENT || number == ENOTDIR {
            return StoreError(
                .unavailable, "the directory of the key file \(FileProblem.loggable(path)) doesn't exist",
                hint: "create the directory first, or choose another path", platform: .errno(number))
        }
        return FileProblem.system("key file", path, number: number, hint: "choose another path")
    }

    /// Reads a key file of this user alone.
    static func read(_ path: String) throws(StoreError) -> Secret<KeyFileKey> {
        guard !path.utf8.contains(0) else { throw FileProblem.refuse("key file", path, "has a NUL in its name") }
        let descriptor = unsafe open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ELOOP { throw FileProblem.refuse("key file", path, "is a symbolic link") }
            throw FileProblem.system(
                "key file", path, number: errno,
                hint: errno == EACCES
                    ? "make sure that you own the key file and its mode is 600" : "\(Recovery.chooseKeyFile)")
        }
        defer { close(descriptor) }
        let status = try mapError(
            { (error: SystemErrorNumber) in FileProblem.system("key file", path, number: error.number) },
            of: FileStatus.of(descriptor: descriptor))
        // Advice on the mode is only for possible key files.
        if status.isRegularFile, status.isOwn, status.byteCount != byteCount { throw wrongLength(path) }
        try status.requirePrivateFile("key file", path)
        guard status.byteCount == byteCount else { throw wrongLength(path) }
        return try Secret(byteCount: byteCount) { (out) throws(StoreError) in
            guard (try? DescriptorBytes.fill(&out, from: descriptor)) == byteCount else { throw wrongLength(path) }
        }
    }

    private static func wrongLength(_ path: String) -> StoreError {
        StoreError(
            .wrongKey, "\(FileProblem.loggable(path)) isn't a key file: a key file has exactly \(byteCount) bytes",
            hint: "use the vault's key file; for a new vault, choose a path that doesn't exist")
    }
}
