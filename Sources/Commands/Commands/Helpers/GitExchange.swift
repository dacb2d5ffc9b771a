/// Git's description of a credential: lines `KEY=VALUE` up to an empty one (git-credential(1), "Input/output format").
struct GitExchange: ~Copyable {
    static let maximumByteCount = 1 << 20
    /// Of a line without its end: git reads no longer ones.
    private static let maximumLineByteCount = 65_535

    private(set) var scheme = ""
    private(set) var host = ""
    private(set) var path = ""
    private(set) var user: String?
    private(set) var password: Secret<Password>?
    /// When the password ends, in seconds since 1970.
    private(set) var passwordExpiry: String?
    private(set) var refreshToken: Secret<Password>?
    /// The capabilities of git (`capability[]`), such as `authtype`.
    private(set) var capabilities: Set<String> = []
    /// The schemes of the server's challenges (`wwwauth[]`), in lower case.
    private(set) var challenges: Set<String> = []

    /// Throws for lines that are not git's. Keys that aren't known are passed over, as git asks.
    init(_ content: borrowing Secret<MessageBody>) throws(CommandFailure) {
        try content.withExposedBytes { (bytes) throws(CommandFailure) in
            var start = 0
            while start < bytes.count {
                // A line ends with LF alone: a CR that counted as an end would let an address name another host.
                let end = bytes.index(of: 0x0A, from: start) ?? bytes.count
                if end == start { return }
                try take(bytes.extracting(start..<end))
                start = end + 1
            }
        }
    }

    /// Whether a request is there whole.
    static func isWhole(_ bytes: Span<UInt8>) -> Bool {
        bytes.starts(with: "\n") || bytes.count > 1 && bytes.starts(with: "\n\n", at: bytes.count - 2)
    }

    /// The service of the stored credential; `nil` if the request has neither host nor path.
    var service: String? {
        // A host with a slash or a user in it, which git has from %2f and %40, would have the name of another place.
        guard !scheme.isEmpty, host.isEmpty ? !path.isEmpty : HostName.isSound(host) else { return nil }
        let place = path.isEmpty ? host : "\(host)/\(path)"
        return "git:\(scheme)://\(place.hasSuffix("/") ? String(place.dropLast()) : place)"
    }

    /// The services whose credentials answer: a netrc knows no upper case in a host.
    var services: [String] {
        guard let service else { return [] }
        let other = ASCII.lowercased(host)
        guard path.isEmpty, other != host else { return [service] }
        return [service, "git:\(scheme)://\(other)"]
    }

    /// The account of the stored credential; `nil` if the request has no user.
    var account: String? { user.map { $0.isEmpty ? Self.accountOfNobody : $0 } }

    /// The user whose credential an account is.
    static func user(ofAccount account: String) -> String { account == accountOfNobody ? "" : account }

    /// The account for an empty user name: that user signs in without a password (RFC 4559).
    static let accountOfNobody = "(no user)"

    /// The attributes by which other helpers' items are found in a keyring: git's own, and Git Credential Manager's.
    var shapes: [ItemAttributes] {
        guard let service else { return [] }
        let name = host.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        return [["protocol": scheme, "server": String(name.first ?? "")], ["service": service]]
            .map(ItemAttributes.init(ofOthers:))
    }

    /// The origin whose sessions may be used. Tokens go over HTTPS, or to a loopback address, which `provider add`
    /// sees to.
    var origin: String { ASCII.lowercased("\(scheme)://\(host)") }

    /// Whether the request is for a mail server, which wants the account's own name with the token (git-send-email(1)).
    var isForMail: Bool { scheme == "smtp" || scheme == "imap" }

    private mutating func take(_ line: Span<UInt8>) throws(CommandFailure) {
        guard line.count <= Self.maximumLineByteCount, line.index(of: 0) == nil,
            let equals = line.index(of: UInt8(ascii: "="))
        else { throw Self.malformed }
        let value = line.extracting((equals + 1)..<line.count)
        switch line.extracting(0..<equals).publicText() {
        case "password": password = Secret(copying: value)
        case "oauth_refresh_token": refreshToken = Secret(copying: value)
        case "protocol": scheme = try Self.text(value)
        case "host": host = try Self.text(value)
        case "path": path = try Self.text(value)
        case "username": user = try Self.text(value)
        case "password_expiry_utc": passwordExpiry = try Self.text(value)
        case "capability[]": capabilities.insert(try Self.text(value))
        case "wwwauth[]":
            // An empty value takes back what was listed before it.
            if value.isEmpty { challenges = [] }
            challenges.insert(ASCII.lowercased(try Self.text(value).prefix { $0 != " " }))
        default: break
        }
    }

    private static func text(_ value: Span<UInt8>) throws(CommandFailure) -> String {
        guard let text = value.publicText() else { throw malformed }
        return text
    }

    private static var malformed: CommandFailure {
        CommandFailure(
            .badData, "helper.malformed", "standard input isn't a request from git",
            hint: "pass lines KEY=VALUE of at most \(maximumLineByteCount) bytes; gitcredentials(7)")
    }
}

/// The stored form of a git credential: the password, and below it the lines that git wants back, if any.
/// git-credential-libsecret writes the same form.
struct GitSecret: ~Copyable {
    private(set) var password = Secret<Password>(copying: [UInt8]().span)
    private(set) var expiry: String?
    private(set) var refreshToken: Secret<Password>?

    /// `nil` for a secret that git can't read: one with several lines or a NUL.
    init?(_ secret: borrowing Secret<Password>) {
        let (end, isSound) = secret.withExposedBytes { bytes in
            (bytes.index(of: 0x0A) ?? bytes.count, bytes.index(of: 0) == nil)
        }
        guard isSound else { return nil }
        password = secret.withExposedBytes { Secret(copying: $0.extracting(0..<end)) }
        let isKnown = secret.withExposedBytes { bytes in
            var start = end + 1
            while start < bytes.count {
                let stop = bytes.index(of: 0x0A, from: start) ?? bytes.count
                guard take(bytes.extracting(start..<stop)) else { return false }
                start = stop + 1
            }
            return true
        }
        guard isKnown else { return nil }
    }

    private mutating func take(_ line: Span<UInt8>) -> Bool {
        guard let equals = line.index(of: UInt8(ascii: "=")) else { return false }
        let value = line.extracting((equals + 1)..<line.count)
        switch line.extracting(0..<equals).publicText() {
        case "password_expiry_utc": expiry = value.publicText()
        case "oauth_refresh_token": refreshToken = Secret(copying: value)
        default: return false
        }
        return true
    }

    /// The secret to store for a request; `nil` for a request without a password.
    static func kept(_ request: borrowing GitExchange) -> Secret<Password>? {
        var kept = SecretBuilder()
        switch request.password {
        case .some(let password): try? kept.append(password)
        case .none: return nil
        }
        if let expiry = request.passwordExpiry { try? kept.append(publicText: "\npassword_expiry_utc=\(expiry)") }
        switch request.refreshToken {
        case .some(let token):
            try? kept.append(publicText: "\noauth_refresh_token=")
            try? kept.append(token)
        case .none: break
        }
        return kept.finish(as: Password.self)
    }

    /// Whether git can read a secret.
    static func isReadable(_ secret: borrowing Secret<Password>) -> Bool {
        switch GitSecret(secret) {
        case .some: true
        case .none: false
        }
    }

    /// Whether git can use a secret: it is readable for git and hasn't expired.
    static func isUsable(_ secret: borrowing Secret<Password>) -> Bool {
        guard let secret = GitSecret(secret) else { return false }
        return secret.expiry.flatMap(Int64.init).map { $0 > UnixTime.now().seconds } ?? true
    }
}
