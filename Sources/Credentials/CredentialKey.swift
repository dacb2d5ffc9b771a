public import LatchkeyLog

/// What kind of secret a credential is. Stores keep kinds apart: the same service and account may have one of each.
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

    /// A password or token kept for somebody else: what `latchkey set` writes and other programs read.
    public static let password = CredentialKind(known: "password")
    /// An OAuth session: tokens and what is needed to refresh them.
    public static let session = CredentialKind(known: "session")
    /// A private key that belongs to a session.
    public static let privateKey = CredentialKind(known: "private-key")
    /// A client secret of a configured provider.
    public static let clientSecret = CredentialKind(known: "client-secret")
    /// Which account of a service is the current one.
    public static let current = CredentialKind(known: "current")

    /// Safe: a kind is a word of the program, 32 characters at most.
    public var logMessage: LogMessage {
        "\(LoggableText(reviewed: "a kind's name is chosen by the program", unredacted: name))"
    }
}

/// The name under which a credential is kept: a service, an account, and the kind of secret.
///
/// Keys are equal when their UTF-8 is: unlike `String`, two normal forms of the same text are two keys, because every
/// store and every other program compares bytes.
public struct CredentialKey: Sendable, Hashable, Loggable {
    /// 1 to 1,024 bytes of UTF-8 without control characters.
    public let service: String
    /// 1 to 1,024 bytes of UTF-8 without control characters.
    public let account: String
    public let kind: CredentialKind

    public static let maximumByteCount = 1024

    /// Makes a key, or throws what is wrong with it.
    public init(service: String, account: String, kind: CredentialKind = .password) throws(CredentialKeyError) {
        try Self.check(service, .service)
        try Self.check(account, .account)
        self.service = service
        self.account = account
        self.kind = kind
    }

    static func check(_ text: String, _ part: CredentialKeyError.Part) throws(CredentialKeyError) {
        if text.isEmpty { throw CredentialKeyError(part: part, problem: .empty) }
        if text.utf8.count > maximumByteCount { throw CredentialKeyError(part: part, problem: .tooLong) }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }) {
            throw CredentialKeyError(part: part, problem: .controlCharacter)
        }
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

/// What is wrong with a service or an account.
public struct CredentialKeyError: RedactedError, Hashable {
    public enum Part: Sendable, Hashable { case service, account }
    public enum Problem: Sendable, Hashable { case empty, tooLong, controlCharacter }

    public let part: Part
    public let problem: Problem

    public var codeName: StaticString { "key.invalid" }

    public var cause: LogMessage {
        let part: LogMessage = part == .service ? "the service" : "the account"
        return switch problem {
        case .empty: "\(part) is empty"
        case .tooLong: "\(part) is longer than \(CredentialKey.maximumByteCount) bytes"
        case .controlCharacter: "\(part) contains a control character"
        }
    }

    public var hint: LogMessage? { "give a name of 1 to \(CredentialKey.maximumByteCount) bytes of printable UTF-8" }
}
