public import Credentials
public import RedactedLog
public import Secrets

/// What opens a vault: a passphrase or a key file.
public struct VaultKeySource: ~Copyable, Sendable {
    let passphrase: Secret<Passphrase>?
    let keyFilePath: String?

    /// A passphrase, as typed: its bytes are taken as they are, without normalisation.
    public static func passphrase(_ passphrase: consuming Secret<Passphrase>) -> VaultKeySource {
        VaultKeySource(passphrase: passphrase, keyFilePath: nil)
    }

    /// A file of exactly 32 random bytes, of this user alone; see `VaultKeyFile.create(at:)`.
    public static func keyFile(_ path: String) -> VaultKeySource {
        VaultKeySource(passphrase: nil, keyFilePath: path)
    }

    private init(passphrase: consuming Secret<Passphrase>?, keyFilePath: String?) {
        self.passphrase = passphrase
        self.keyFilePath = keyFilePath
    }

    public var kind: KeySlotKind { keyFilePath == nil ? .passphrase : .keyFile }

    /// The same source again, for a second thread.
    borrowing func duplicate() -> VaultKeySource {
        switch passphrase {
        case .some(let passphrase): VaultKeySource(passphrase: passphrase.duplicate(), keyFilePath: nil)
        case .none: VaultKeySource(passphrase: nil, keyFilePath: keyFilePath)
        }
    }
}

/// How a key slot is opened.
public struct KeySlotKind: Sendable, Hashable, Loggable {
    /// As in the file. 1 to 4 are taken; a slot of a kind unknown here is left alone.
    let number: UInt8

    public static let passphrase = KeySlotKind(number: 1)
    public static let keyFile = KeySlotKind(number: 2)

    /// Safe: a word of ours.
    public var logMessage: LogMessage {
        switch self {
        case .passphrase: "passphrase"
        case .keyFile: "key-file"
        default: "kind \(Int(number))"
        }
    }
}

/// What people call a key slot: 1 to 64 bytes of UTF-8 without control characters. It is sealed in the file.
public struct KeySlotName: Sendable, Hashable, Loggable {
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

    public static let passphrase = KeySlotName(known: "passphrase")
    public static let keyFile = KeySlotName(known: "key file")

    /// Safe: a name that people choose to tell slots apart.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a slot's name is chosen to be shown", unredacted: text))"
    }
}

/// A key slot, as `VaultStore.slots` shows it.
public struct KeySlotDescription: Sendable, Hashable {
    public let kind: KeySlotKind
    public let name: KeySlotName
    public let created: UnixTime
    /// For passphrases.
    public let cost: PassphraseCost?
    let id: [UInt8]
}
