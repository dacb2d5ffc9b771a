public import LatchkeyLog
public import LatchkeyOAuth

/// Who is signed in at GitHub.
public struct GHAuthInfo: Sendable, Hashable, Loggable {
    /// The name of the account, which its owner can change; of a token made elsewhere, the name it was saved under.
    public let login: String
    /// GitHub's number for the account, which stays when the login changes.
    public let id: Int64?
    /// What was granted; it may be less than what was requested.
    public let scopes: ScopeList

    /// For a ``GitHubClient`` of the caller's own. The token is kept under `login`.
    public init(login: String, id: Int64? = nil, scopes: ScopeList = []) {
        self.login = login
        self.id = id
        self.scopes = scopes
    }

    init(_ summary: SessionSummary) {
        self.init(login: summary.account, id: summary.subject.flatMap(Int64.init), scopes: summary.scopes)
    }

    /// Safe: a public name and names of permissions.
    public var logMessage: LogMessage {
        let login = LoggableText(reviewed: "a login is public on GitHub", unredacted: login)
        return "\(login) with the scopes \(scopes)"
    }
}
