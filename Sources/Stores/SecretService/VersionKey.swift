internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySystem

/// The key under which versions are hashed, so that a version says nothing about a secret that could be guessed.
struct VersionKey: Sendable {
    private let secretKey: [UInt8]
    private let stateKey: [UInt8]

    /// - Parameter bytes: 32 random octets.
    init(bytes: [UInt8]) {
        secretKey = KeyedHash.digest(Array("secret".utf8).span, key: bytes.span)
        stateKey = KeyedHash.digest(Array("state".utf8).span, key: bytes.span)
    }

    /// Hashes what a credential is: its key, its label and its secret. The same state has the same version.
    func version<Purpose: SecretPurpose>(
        of key: CredentialKey, label: String, _ secret: borrowing Secret<Purpose>
    ) -> CredentialVersion {
        version(of: [key.service, key.account, key.kind.name, label], secret)
    }

    /// The version of an item. All attributes count if the item isn't a credential.
    func version<Purpose: SecretPurpose>(of item: Item, _ secret: borrowing Secret<Purpose>) -> CredentialVersion {
        if let key = item.key { return version(of: key, label: item.label, secret) }
        return version(of: item.attributes.all.flatMap { [$0.name, $0.value] } + ["", item.label], secret)
    }

    private func version<Purpose: SecretPurpose>(
        of parts: [String], _ secret: borrowing Secret<Purpose>
    ) -> CredentialVersion {
        var message: [UInt8] = []
        for part in parts {
            message += Array("\(part.utf8.count):".utf8) + Array(part.utf8)
        }
        let secretKey = secretKey
        message += secret.withExposedBytes { KeyedHash.digest($0, key: secretKey.span) }
        return CredentialVersion(bytes: KeyedHash.digest(message.span, key: stateKey.span, byteCount: 16))
    }
}

/// The file (0600) of the version key, 32 random bytes, which all Latchkey processes of this user share.
///
/// The file is beside the leases, in the same place for every environment. With the key and a version an attacker can
/// check a guess of the secret; a version alone doesn't reveal anything. If the file can't be created, each process has
/// a different key. Versions of another process then don't match, so a conditional write throws `conflict` instead of
/// overwriting.
enum VersionKeyFile {
    private static let byteCount = 32

    static func key(in directory: LeaseDirectory?) -> VersionKey {
        if let directory, (try? directory.prepare()) != nil {
            let path = directory.path + "/version-key"
            if let bytes = read(path) ?? (create(path) ? read(path) : nil) { return VersionKey(bytes: bytes) }
        }
        return ownKey
    }

    private static let ownKey: VersionKey = {
        guard let bytes = try? RandomOctets.array(byteCount) else {
            preconditionFailure("the kernel gave no random octets")
        }
        return VersionKey(bytes: bytes)
    }()

    /// Returns the octets of a file that only this user can have written and can read.
    private static func read(_ path: String) -> [UInt8]? {
        guard let file = try? PrivateFile.readOwned(path, limit: byteCount, followsLinks: false),
            file.owner == geteuid(), file.mode & 0o077 == 0, file.bytes.count == byteCount
        else { return nil }
        return file.bytes
    }

    /// Creates the complete file or none. If another process was faster, that isn't a failure.
    private static func create(_ path: String) -> Bool {
        guard let bytes = try? RandomOctets.array(byteCount), let suffix = try? RandomOctets.array(8) else {
            return false
        }
        let temporary = path + "." + Hexadecimal.encode(suffix)
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode_t(0o600))
        guard descriptor >= 0 else { return false }
        defer { unsafe unlink(temporary) }
        let isWritten = unsafe write(descriptor, bytes, byteCount) == byteCount && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten else { return false }
        return unsafe link(temporary, path) == 0 || errno == EEXIST
    }
}
