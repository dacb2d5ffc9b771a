internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySystem

/// A credential of git's as it is kept: the password, and in lines below it what git wants to have back, where there is
/// any. git-credential-libsecret writes the same.
struct GitSecret: ~Copyable {
    private(set) var password = Secret<Password>(copying: [UInt8]().span)
    private(set) var expiry: String?
    private(set) var refreshToken: Secret<Password>?

    /// `nil` for what git can't be given: a secret of several lines, or with a NUL.
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

    /// What is kept of a request. `nil` for one without a password.
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

    /// Whether git would pass it over: its end has come.
    func hasEnded(at now: UnixTime) -> Bool { expiry.flatMap(Int64.init).map { $0 <= now.seconds } ?? false }
}
