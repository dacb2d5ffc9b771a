internal import Glibc
internal import LatchkeyCredentials
package import LatchkeyLog

/// The name of a credential that systemd passes to a unit: the ID in `LoadCredentialEncrypted=ID:PATH`.
///
/// 1 to 255 printable ASCII characters without `/` and `:`, and neither `.` nor `..`, as in systemd.exec(5).
package struct SystemCredentialName: Sendable, Hashable, Loggable {
    package let text: String

    /// Returns `nil` for text of another form.
    package init?(_ text: String) {
        guard (1...255).contains(text.utf8.count), text != ".", text != "..",
            text.utf8.allSatisfy({ (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: ":") })
        else { return nil }
        self.text = text
    }

    /// Safe: a name from a unit file, which isn't secret.
    package var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a credential's name stands in a unit file", unredacted: text))"
    }
}

/// A key of exactly 32 bytes that systemd passes to the processes of a unit, as a file in `$CREDENTIALS_DIRECTORY`.
///
/// `systemd-creds encrypt` seals it with the machine's TPM, its host key or both; Docs/HowTo/server.md shows how.
package struct SystemCredential: Sendable, Hashable {
    package let name: SystemCredentialName
    /// The value of `$CREDENTIALS_DIRECTORY`.
    package let directory: String

    package static let byteCount = 32

    package init(name: SystemCredentialName, directory: String) {
        self.name = name
        self.directory = directory
    }

    /// The key that a credential holds.
    enum Key: SecretPurpose { static var name: StaticString { "systemd credential" } }

    /// Reads the credential. Throws `locked` when there is none, `permissionDenied` when directory or file aren't as
    /// systemd makes them, and `wrongKey` for another length.
    func read() throws(StoreError) -> Secret<Key> {
        guard directory.hasPrefix("/") else {
            throw StoreError(.locked, "CREDENTIALS_DIRECTORY isn't an absolute path", hint: Self.hint)
        }
        let folder = try opened(AT_FDCWD, directory, O_DIRECTORY, shown: directory)
        defer { close(folder) }
        let path = directory + "/" + name.text
        try status(folder, directory).requireMadeBySystemd("directory of credentials", directory)
        let file = try opened(folder, name.text, O_NONBLOCK, shown: path)
        defer { close(file) }
        let status = try status(file, path)
        try status.requireMadeBySystemd("credential", path)
        guard status.byteCount == Self.byteCount else { throw wrongLength }
        return try Secret(byteCount: Self.byteCount) { (out) throws(StoreError) in
            guard (try? DescriptorBytes.fill(&out, from: file)) == Self.byteCount else { throw wrongLength }
        }
    }

    private func opened(_ folder: Int32, _ name: String, _ flags: Int32, shown: String) throws(StoreError) -> Int32 {
        let descriptor = unsafe openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | flags)
        guard descriptor >= 0 else {
            if errno == ENOENT {
                throw StoreError(
                    .locked, "the credential \(FileProblem.loggable(shown)) doesn't exist", hint: Self.hint,
                    platform: .errno(errno))
            }
            if errno == ELOOP { throw FileProblem.refuse("credential", shown, "is a symbolic link", hint: Self.hint) }
            throw FileProblem.system("credential", shown, number: errno, hint: Self.hint)
        }
        return descriptor
    }

    private func status(_ descriptor: Int32, _ path: String) throws(StoreError) -> FileStatus {
        try mapError(
            { (error: SystemErrorNumber) in FileProblem.system("credential", path, number: error.number) },
            of: FileStatus.of(descriptor: descriptor))
    }

    private var wrongLength: StoreError {
        .wrongKey(
            "the credential \(name) isn't a key: a key has exactly \(Self.byteCount) bytes",
            hint: "\(Recovery.createSystemCredential)")
    }

    private static let hint: LogMessage = "run the command in a unit with LoadCredentialEncrypted= for that name"
}

extension FileStatus {
    /// Throws unless systemd could have created this: a directory, or a file with one name, of root or of this user.
    /// Others must not have access, and only the owner may change it.
    ///
    /// systemd.exec(5) creates directories with mode 0500 and files with 0400. If they belong to root, an access list
    /// gives access to the unit's user, and the mode's group bits show that list's mask: 0550 and 0440.
    fileprivate func requireMadeBySystemd(_ what: StaticString, _ path: String) throws(StoreError) {
        let hint: LogMessage = "let systemd create it: set LoadCredentialEncrypted= in the unit"
        guard isDirectory || isRegularFile else {
            throw FileProblem.refuse(what, path, "isn't a regular file", hint: hint)
        }
        guard isOwn || owner == 0 else {
            throw FileProblem.refuse(what, path, "belongs to another user", hint: hint)
        }
        guard mode & 0o007 == 0 else { throw FileProblem.refuse(what, path, "can be used by other users", hint: hint) }
        guard mode & 0o020 == 0 else { throw FileProblem.refuse(what, path, "can be changed by a group", hint: hint) }
        guard isDirectory || linkCount == 1 else {
            throw FileProblem.refuse(what, path, "has a second name (a hard link)", hint: hint)
        }
    }
}
