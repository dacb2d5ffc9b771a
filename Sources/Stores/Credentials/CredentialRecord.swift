public import LatchkeyLog

/// Which state of a credential a store holds, different after each change. Use it with ``WriteCondition/matches(_:)``.
///
/// It shows nothing of the secret. A store that `hasAtomicConditions` doesn't use one again, even if an earlier state
/// returns. In another store it may be a keyed hash over secret and attributes.
public struct CredentialVersion: Sendable, Hashable, Loggable {
    /// 16 to 64 bytes, opaque; no secret.
    public let bytes: [UInt8]

    /// For a store's own versions; that there are 16 to 64 bytes is not checked.
    public init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Safe: the first four bytes of a keyed hash.
    public var logMessage: LogMessage {
        let digits = Hexadecimal.encode(Array(bytes.prefix(4)))
        return "\(LoggableText(reviewed: "the first four bytes of a keyed hash", unredacted: digits))"
    }
}

/// The content type of a secret, for stores that pass it to programs which show the secret.
public enum SecretContentType: String, Sendable, Hashable {
    /// UTF-8 text.
    case text = "text/plain"
    /// Any bytes.
    case binary = "application/octet-stream"
}

extension SecretContentType {
    /// The type of bytes that a program calls `contentType`: text only if the bytes are also UTF-8, because
    /// gnome-keyring calls everything text.
    package init<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>, named contentType: String) {
        guard contentType.utf8.starts(with: "text/".utf8) else {
            self = .binary
            return
        }
        self = secret.withExposedBytes { (try? UTF8Span(validating: $0)) == nil } ? .binary : .text
    }
}

/// All that is known of a credential besides its secret.
public struct CredentialMetadata: Sendable, Hashable {
    /// The key to read and delete the credential with.
    public let key: CredentialKey
    /// The label that keyring applications show.
    public let label: String
    /// When the credential was first saved; in a keyring, what its service says (`Created` of an item).
    public let created: UnixTime
    /// When the credential was saved last; in a keyring, what its service says (`Modified` of an item).
    public let modified: UnixTime
    /// `nil` when the store can't tell without reading the secret (see ``StoreCapabilities/hasVersionsInListing``).
    public let version: CredentialVersion?

    /// For a store's own listings and records; nothing is checked.
    public init(
        key: CredentialKey, label: String, created: UnixTime, modified: UnixTime, version: CredentialVersion?
    ) {
        self.key = key
        self.label = label
        self.created = created
        self.modified = modified
        self.version = version
    }
}

/// A credential as read from a store.
public struct CredentialRecord<Purpose>: ~Copyable, Sendable {
    /// Its `version` may be `nil`, as in a listing; the record's own never is.
    public let metadata: CredentialMetadata
    /// The state that was read: give it to ``WriteCondition/matches(_:)``, so that no other process's save is
    /// overwritten.
    public let version: CredentialVersion
    /// The saved type if the store's `keepsContentType` is true; otherwise only a hint.
    public let contentType: SecretContentType
    /// The bytes as they were saved; there may be none. ``takeSecret()`` moves it out of the record.
    public let secret: Secret<Purpose>

    /// For a store's own `read(_:as:deadline:)`; consumes the secret.
    public init(
        metadata: CredentialMetadata, version: CredentialVersion, contentType: SecretContentType,
        secret: consuming Secret<Purpose>
    ) {
        self.metadata = metadata
        self.version = version
        self.contentType = contentType
        self.secret = secret
    }

    /// Ends the record and returns its secret.
    public consuming func takeSecret() -> Secret<Purpose> { secret }
}

/// The condition for a save or a delete. If it doesn't hold, the operation throws ``StoreError/Code/conflict``.
public enum WriteCondition: Sendable, Hashable {
    /// Nothing: update or insert.
    case none
    /// The store doesn't contain a credential under the key.
    case absent
    /// The credential is still in this version (compare-and-set). A deleted one isn't.
    case matches(CredentialVersion)

    /// Throws `conflict` unless it holds of what is there, `nil` for nothing.
    package func check(against present: CredentialVersion?) throws(StoreError) {
        switch self {
        case .none: return
        case .absent where present == nil: return
        case .matches(let version) where present == version: return
        case .absent:
            throw StoreError(.conflict, "the credential exists already", hint: "read it, or save without a condition")
        case .matches:
            throw StoreError(.conflict, "the credential was changed since it was read", hint: "read it again")
        }
    }
}

/// The label, type and condition of a save.
public struct SaveOptions: Sendable, Hashable {
    /// The label that keyring applications show; `nil` keeps the present label, or makes one from the key. A vault
    /// throws `tooLarge` for more than 4,096 bytes, a keyring `unsupported` for a NUL.
    public var label: String?
    /// `binary` unless told otherwise; a keyring may pass it on to programs that show the secret.
    public var contentType: SecretContentType
    /// The condition for the save (default: `none`). If it doesn't hold, the save throws `conflict` and changes
    /// nothing.
    public var condition: WriteCondition
    /// The original of a copy. A vault and a store in memory keep its times.
    package var original: CredentialMetadata?

    /// The defaults keep the label, declare the secret as bytes, and save whatever the store contains.
    public init(
        label: String? = nil, contentType: SecretContentType = .binary, condition: WriteCondition = .none
    ) {
        self.label = label
        self.contentType = contentType
        self.condition = condition
    }
}
