public import LatchkeyCredentials
public import LatchkeyLog

/// The key of a vault: a passphrase, a key file, or a key that systemd or a keyring stores.
public struct VaultKeySource: ~Copyable, Sendable {
    /// Where the key is.
    enum Place: Sendable {
        case passphrase
        case keyFile(String)
        case systemCredential(SystemCredential)
        case keptKey(KeySlotReference)
        case kernelKeyring
    }

    let place: Place
    let passphrase: Secret<Passphrase>?
    let keptKey: Secret<VaultSlotKey>?

    /// A passphrase. Its bytes are used verbatim, without normalisation. An empty one makes no slot (`wrongKey`).
    public static func passphrase(_ passphrase: consuming Secret<Passphrase>) -> VaultKeySource {
        VaultKeySource(place: .passphrase, passphrase: passphrase, keptKey: nil)
    }

    /// A file of exactly 32 random bytes, of this user alone; see ``VaultKeyFile/create(at:)``.
    public static func keyFile(_ path: String) -> VaultKeySource { VaultKeySource(.keyFile(path)) }

    /// A credential of exactly 32 random bytes that systemd passes to the unit's processes (systemd.exec(5),
    /// `LoadCredentialEncrypted=`).
    ///
    /// - Parameters:
    ///   - name: the credential's ID: 1 to 255 printable ASCII characters without `/` and `:`. Throws `unsupported` for
    ///     another.
    ///   - directory: what `$CREDENTIALS_DIRECTORY` says.
    public static func systemCredential(named name: String, in directory: String) throws(StoreError) -> VaultKeySource {
        guard let name = SystemCredentialName(name) else {
            throw StoreError(
                .unsupported, "not a valid name of a systemd credential",
                hint: "use the ID from the unit's LoadCredentialEncrypted=")
        }
        return systemCredential(SystemCredential(name: name, directory: directory))
    }

    package static func systemCredential(_ credential: SystemCredential) -> VaultKeySource {
        VaultKeySource(.systemCredential(credential))
    }

    /// A key of exactly 32 random bytes from elsewhere, for one slot. A key of another length throws `wrongKey` at its
    /// use.
    package static func keptKey(_ key: consuming Secret<VaultSlotKey>, of slot: KeySlotReference) -> VaultKeySource {
        VaultKeySource(place: .keptKey(slot), passphrase: nil, keptKey: key)
    }

    /// The key that `VaultStore.keepUnlocked(for:)` left in the kernel, if its time isn't over. It makes no slot.
    package static var kernelKeyring: VaultKeySource { VaultKeySource(.kernelKeyring) }
}

extension VaultKeySource {
    private init(_ place: Place) {
        self.init(place: place, passphrase: nil, keptKey: nil)
    }

    package var kind: KeySlotKind {
        switch place {
        case .passphrase: .passphrase
        case .keyFile: .keyFile
        case .systemCredential: .systemCredential
        case .keptKey: .secretService
        case .kernelKeyring: .kernelKeyring
        }
    }

    /// The slot that it is for, when it is for a single one.
    var reference: KeySlotReference? {
        if case .keptKey(let reference) = place { return reference }
        return nil
    }

    /// The name of the credential, when it is one: a slot keeps it.
    var systemCredentialName: SystemCredentialName? {
        if case .systemCredential(let credential) = place { return credential.name }
        return nil
    }

    /// The same source again, for a second thread.
    borrowing func duplicate() -> VaultKeySource {
        switch place {
        case .passphrase:
            VaultKeySource(place: place, passphrase: passphrase?.duplicate(), keptKey: nil)
        case .keptKey:
            VaultKeySource(place: place, passphrase: nil, keptKey: keptKey?.duplicate())
        default: VaultKeySource(place)
        }
    }
}

/// How a key slot is opened.
public struct KeySlotKind: Sendable, Hashable, Loggable {
    /// The number in the file, from 1 to 4. A slot of an unknown kind stays unchanged.
    let number: UInt8

    /// A passphrase, at a cost that the slot carries (Argon2id, RFC 9106).
    public static let passphrase = KeySlotKind(number: 1)
    /// A file of exactly 32 random bytes, as ``VaultKeyFile/create(at:)`` makes it.
    public static let keyFile = KeySlotKind(number: 2)
    /// 32 random bytes that systemd passes to a unit (systemd.exec(5), `LoadCredentialEncrypted=`).
    public static let systemCredential = KeySlotKind(number: 3)
    /// 32 random bytes that a keyring keeps (freedesktop Secret Service).
    public static let secretService = KeySlotKind(number: 4)
    /// No slot has this kind: what is in the kernel is the key that slots wrap.
    package static let kernelKeyring = KeySlotKind(number: 0)

    var isKnown: Bool { (1...4).contains(number) }

    /// The default name of a slot.
    var slotName: KeySlotName {
        switch self {
        case .passphrase: .passphrase
        case .systemCredential: .systemCredential
        case .secretService: .secretService
        default: .keyFile
        }
    }

    /// Safe: a word of ours.
    public var logMessage: LogMessage {
        switch self {
        case .passphrase: "passphrase"
        case .keyFile: "key-file"
        case .systemCredential: "systemd-credential"
        case .secretService: "secret-service"
        case .kernelKeyring: "kernel-keyring"
        default: "kind \(Int(number))"
        }
    }
}

/// The name of a key slot: 1 to 64 bytes of UTF-8 without control characters. The file contains it encrypted.
public struct KeySlotName: Sendable, Hashable, Loggable {
    /// The name, verbatim.
    public let text: String

    /// Returns `nil` for text of another form.
    public init?(_ text: String) {
        guard (1...64).contains(text.utf8.count),
            !text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) })
        else { return nil }
        self.text = text
    }

    private init(known text: StaticString) {
        self.text = text.description
    }

    package static let passphrase = KeySlotName(known: "passphrase")
    package static let keyFile = KeySlotName(known: "key file")
    package static let systemCredential = KeySlotName(known: "systemd credential")
    package static let secretService = KeySlotName(known: "keyring")

    /// Safe: a name that people choose to tell slots apart.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a slot's name is chosen to be shown", unredacted: text))"
    }
}

/// A key slot, as ``VaultStore/slots(deadline:)`` shows it.
public struct KeySlotDescription: Sendable, Hashable {
    /// The kind of key that opens the slot. Slots of an unknown kind aren't described.
    public let kind: KeySlotKind
    /// No two slots of a vault share one.
    public let name: KeySlotName
    package let created: UnixTime
    /// For passphrases.
    package let cost: PassphraseCost?
    package let reference: KeySlotReference
}

// MARK: - Slot secret

extension VaultKeySource {
    /// Derives a slot's secret: Argon2id for passphrases, keyed BLAKE2b of the salt for keys that are random already.
    borrowing func slotSecret(
        cost: PassphraseCost?, salt: [UInt8], vault: VaultID
    ) throws(StoreError) -> Secret<SlotSecret> {
        switch place {
        case .passphrase: return try derived(cost, salt)
        case .keyFile(let path):
            return Self.hashed("key file", try VaultKeyFile.read(path), salt, vault)
        case .systemCredential(let credential):
            return Self.hashed("systemd credential", try credential.read(), salt, vault)
        case .keptKey:
            switch keptKey {
            case .some(let key) where key.byteCount == 32: return Self.hashed("kept key", key, salt, vault)
            default:
                throw .wrongKey(
                    "the vault's key in the keyring doesn't have 32 bytes",
                    hint: "open the vault with another key, and replace that slot")
            }
        case .kernelKeyring:
            throw StoreError(
                .unsupported, "a key in the kernel's keyring can't be a slot", hint: "use a passphrase or a key file")
        }
    }

    private static func hashed<Purpose: SecretPurpose>(
        _ use: StaticString, _ key: borrowing Secret<Purpose>, _ salt: [UInt8], _ vault: VaultID
    ) -> Secret<SlotSecret> {
        let message = Array("latchkey vault v1 \(use)".utf8) + vault.bytes + salt
        return Secret(byteCount: 32) { out in
            key.withExposedBytes { KeyedHash.digest(message.span, key: $0, into: &out) }
        }
    }

    private borrowing func derived(_ cost: PassphraseCost?, _ salt: [UInt8]) throws(StoreError) -> Secret<SlotSecret> {
        guard let cost else { throw .vaultCorrupted("a passphrase slot lacks its costs") }
        var isDerived = false
        let key = Secret<SlotSecret>(byteCount: 32) { out in
            switch passphrase {
            // The kernel would end a process that needs more than its container may have.
            case .some(let passphrase) where cost.memoryByteCount <= MemoryAllowance.byteCount():
                isDerived = passphrase.withExposedBytes {
                    Argon2id.derive(
                        passphrase: $0, salt: salt.span, passes: cost.passes, memoryByteCount: cost.memoryByteCount,
                        into: &out)
                }
            default: break
            }
        }
        guard isDerived else {
            throw StoreError(
                .unavailable, "not enough memory to try the passphrase, which needs \(cost.memoryByteCount) bytes",
                hint: "free some memory, raise the container's limit, or use a key file")
        }
        return key
    }
}
