/// The forms that tokens of well-known services have: found without anybody having planted them.
///
/// These are prefixes, alphabets and lengths as the services document them, not a guess at randomness, so that ordinary
/// logs stay silent.
public enum KnownForm: Sendable, Hashable, CaseIterable {
    /// `ghp_`, `gho_`, `ghu_`, `ghs_` or `ghr_` and 36 letters and digits, or `github_pat_` and 82 more characters.
    case gitHubToken
    /// `glpat-` and 20 characters or more.
    case gitLabToken
    /// `AIza` and 35 characters, `ya29.` and 20 or more, `GOCSPX-` and 28.
    case googleKey
    /// `xoxb-` and the like, and 20 characters or more.
    case slackToken
    /// `AKIA` or `ASIA` and 16 capital letters and digits.
    case awsKeyID
    /// Three parts of base64url with dots in between, the first two of which begin as JSON objects do (RFC 7519).
    case jsonWebToken
    /// `-----BEGIN … PRIVATE KEY-----` (RFC 7468).
    case privateKey
    /// A URL with a name and a password before its host (RFC 3986 section 3.2.1).
    case passwordInURL

    /// A short name for people, such as `GitHub token`.
    public var name: StaticString {
        switch self {
        case .gitHubToken: "GitHub token"
        case .gitLabToken: "GitLab token"
        case .googleKey: "Google key or token"
        case .slackToken: "Slack token"
        case .awsKeyID: "AWS key id"
        case .jsonWebToken: "JSON Web Token"
        case .privateKey: "private key"
        case .passwordInURL: "password in a URL"
        }
    }
}
