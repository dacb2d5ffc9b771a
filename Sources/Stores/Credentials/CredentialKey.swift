public import LatchkeyLog

/// The kind of secret that a credential contains. Stores separate kinds: a service and account may have one credential
/// of each.
public struct CredentialKind: Sendable, Hashable, Loggable {
    /// 1 to 32 lower-case letters, digits and hyphens.
    public let name: String

    /// Returns `nil` for a name of another form.
    public init?(_ name: String) {
        guard (1...32).contains(name.utf8.count),
            name.utf8.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D })
        else { return nil }
        self.name = name
    }

    private init(known name: StaticString) {
        self.name = name.description
    }

    /// A password or token for a service: what `latchkey set` writes and other programs read.
    public static let password = CredentialKind(known: "password")
    /// An OAuth session: tokens and what is needed to refresh them.
    package static let session = CredentialKind(known: "session")
    /// A private key that belongs to a session.
    public static let privateKey = CredentialKind(known: "private-key")
    /// A client secret of a configured provider.
    public static let clientSecret = CredentialKind(known: "client-secret")
    /// Which account of a service is the current one.
    package static let current = CredentialKind(known: "current")
    /// The mark of a session that its server ended. It contains no secret.
    package static let ended = CredentialKind(known: "ended")

    /// Safe: a kind is a word of the program, 32 characters at most.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a kind's name is chosen by the program", unredacted: name))"
    }
}

/// The name of a credential: a service, an account, and the kind of secret.
///
/// Keys are equal if their UTF-8 is equal. Two normal forms of the same text are two keys, unlike `String`, because
/// every store and every other program compares bytes.
public struct CredentialKey: Sendable, Hashable, Loggable {
    /// 1 to 1,024 bytes of UTF-8 without control characters.
    public let service: String
    /// 1 to 1,024 bytes of UTF-8 without control characters.
    public let account: String
    /// `password` unless told otherwise. Two kinds under one service and account are two credentials.
    public let kind: CredentialKind

    package static let maximumByteCount = 1024

    /// The prefix of the services of a provider's sessions and secrets.
    package static let providerPrefix = "latchkey:"

    /// Makes a key.
    ///
    /// Throws `InvalidValue` for a service or account that is empty, is longer than 1,024 bytes of UTF-8, or has a
    /// control character (U+0000 to U+001F, U+007F to U+009F).
    public init(service: String, account: String, kind: CredentialKind = .password) throws(InvalidValue) {
        try Self.check(service, "the service")
        try Self.check(account, "the account")
        self.service = service
        self.account = account
        self.kind = kind
    }

    static func check(_ text: String, _ part: LogMessage) throws(InvalidValue) {
        if text.isEmpty { throw invalid("\(part) is empty") }
        if text.utf8.count > maximumByteCount { throw invalid("\(part) is longer than \(maximumByteCount) bytes") }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) {
            throw invalid("\(part) contains a control character")
        }
    }

    private static func invalid(_ cause: LogMessage) -> InvalidValue {
        InvalidValue(.credentialKey, cause, hint: "use a name of 1 to \(maximumByteCount) bytes of printable UTF-8")
    }

    public static func == (left: CredentialKey, right: CredentialKey) -> Bool {
        left.kind == right.kind && left.service.utf8.elementsEqual(right.service.utf8)
            && left.account.utf8.elementsEqual(right.account.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(kind)
        for byte in service.utf8 { hasher.combine(byte) }
        hasher.combine(UInt8(0))
        for byte in account.utf8 { hasher.combine(byte) }
    }

    /// Safe: names are what people and other programs see in a keyring application; secrets are never kept in them.
    public var logMessage: LogMessage {
        let service = LoggableText(reviewed: "a service name is shown in keyring applications", unredacted: service)
        let account = LoggableText(reviewed: "an account name is shown in keyring applications", unredacted: account)
        return kind == .password ? "\(service)/\(account)" : "\(service)/\(account) (\(kind))"
    }
}
