public import LatchkeyCredentials
internal import LatchkeyJSON
public import LatchkeyOAuth
package import LatchkeySecrets

/// A stored sign-in: its tokens, and the data to use, refresh and revoke them.
///
/// The type is noncopyable like its tokens. A session is written to a store as one secret, so tokens and expiry never
/// disagree.
package struct StoredSession: ~Copyable, Sendable {
    /// Which provider's server gave the tokens: its issuer, or the token endpoint of one without. Tokens are sent
    /// nowhere else to be refreshed or revoked.
    package let authority: String
    package let clientID: String
    /// The name under which the person finds it: what the server calls them, or what they chose.
    package let account: String
    /// The server's own identifier of the user: the `sub` of OpenID, or GitHub's number.
    package let subject: String?
    package let scopes: ScopeList
    package let issued: UnixTime
    /// When the access token ends; `nil` when the server didn't say.
    package let expiry: UnixTime?
    /// When the ID token ends; `nil` without one.
    package let idTokenExpiry: UnixTime?
    /// How the server took the client's Basic credentials at the sign-in, so that a refresh doesn't have to try.
    package let basicForm: ClientAuthentication.BasicForm?
    /// The thumbprint of the key that the tokens are bound to (RFC 9449); `nil` for bearer tokens. The key is an item
    /// of its own.
    package let keyThumbprint: String?
    /// The resource that the tokens are for, to whose origin alone the access token is sent; `nil` where the provider
    /// decides.
    package let resource: String?
    /// When a refresh was begun whose outcome isn't known: the server may have spent the refresh token. `nil`
    /// otherwise.
    package let refreshBegan: UnixTime?
    package let accessToken: Secret<AccessToken>
    package let refreshToken: Secret<RefreshToken>?
    /// The last ID token (OpenID Connect Core section 2); `nil` without the scope `openid`.
    package let idToken: Secret<IDToken>?

    package init(
        authority: String, clientID: String, account: String, subject: String?, scopes: ScopeList, issued: UnixTime,
        expiry: UnixTime?, idTokenExpiry: UnixTime? = nil,
        basicForm: ClientAuthentication.BasicForm? = nil, keyThumbprint: String? = nil, resource: String? = nil,
        refreshBegan: UnixTime? = nil, accessToken: consuming Secret<AccessToken>,
        refreshToken: consuming Secret<RefreshToken>?, idToken: consuming Secret<IDToken>? = nil
    ) {
        self.refreshBegan = refreshBegan
        self.authority = authority
        self.clientID = clientID
        self.account = account
        self.subject = subject
        self.scopes = scopes
        self.issued = issued
        self.expiry = expiry
        self.idTokenExpiry = idTokenExpiry
        self.basicForm = basicForm
        self.keyThumbprint = keyThumbprint
        self.resource = resource
        self.accessToken = accessToken
        self.refreshToken = refreshToken
        self.idToken = idToken
    }

    /// A session's token for other servers.
    package enum Token: Sendable { case access, id }

    /// The token, whichever it is, for servers that take it as a bearer token; `nil` for an ID token that isn't there.
    package borrowing func bearer(_ token: Token) -> Secret<AccessToken>? {
        switch token {
        case .access: accessToken.duplicate()
        case .id: idToken?.duplicate(as: AccessToken.self)
        }
    }

    /// When the token ends; `nil` when the server didn't say.
    package func end(of token: Token) -> UnixTime? { token == .access ? expiry : idTokenExpiry }

    /// How many seconds an access token counts as fresh if the server didn't say when it ends.
    private static let unsaidLifetime: Int64 = 3600

    /// Whether the token needs no refresh yet. It needs one in its last minute, so that a slow request still arrives in
    /// time; if it lives for less than four minutes, in its last quarter; and if it was issued in the future, because
    /// the wrong clock dated its end, too.
    package func isFresh(at now: UnixTime, _ token: Token = .access) -> Bool {
        guard now >= issued.advanced(bySeconds: -300) else { return false }
        if let end = end(of: token) {
            return now < end.advanced(bySeconds: -min(60, max(0, end.seconds(since: issued)) / 4))
        }
        return token == .access && (!isRefreshable || now < issued.advanced(bySeconds: Self.unsaidLifetime))
    }

    /// Whether the token is good at the moment, as far as the server said.
    package func isUsable(at now: UnixTime, _ token: Token) -> Bool {
        end(of: token).map { now < $0 } ?? (token == .access)
    }

    /// Whether it can be renewed without the person.
    package var isRefreshable: Bool { refreshToken != nil }

    /// Whether a provider's server issued the session for this client: its tokens are for no other client.
    package func isOf(_ provider: OAuthProvider) -> Bool {
        authority.hasSameOctets(as: provider.authority) && clientID.hasSameOctets(as: provider.clientID)
            && (resource == provider.resource || (provider.resource == nil && provider.account == .nowhere))
    }

    /// The person that the ID tokens of a refresh must be for. An API may identify the person by another number than ID
    /// tokens do, as Microsoft's does.
    borrowing func idTokenSubject(at provider: OAuthProvider) -> String? {
        guard case .resource = provider.account else { return subject }
        switch idToken {
        case .some(let token): return token.subject
        case .none: return nil
        }
    }

    /// All parts that aren't secret.
    package var summary: SessionSummary {
        SessionSummary(
            account: account, subject: subject, scopes: scopes, issued: issued, expiry: expiry,
            isRefreshable: isRefreshable)
    }
}

/// The parts of a session that can be shown.
public struct SessionSummary: Sendable, Hashable {
    /// The name of the session: one that the caller chose, or the server's name for the account. It ends in a number,
    /// such as `alice-2`, if another user's session had the name. It is the provider's name if the server named no
    /// account.
    public let account: String
    /// The server's own identifier, such as OpenID's `sub`, which stays when the name changes; `nil` when unknown.
    public let subject: String?
    /// The granted scopes, or the requested ones if the server named none (RFC 6749 section 5.1). Empty if the session
    /// can't be read.
    public let scopes: ScopeList
    package let issued: UnixTime
    /// When the access token ends; `nil` when the server didn't say.
    public let expiry: UnixTime?
    /// Whether there is a refresh token.
    public let isRefreshable: Bool
    /// Whether the item is a session at all; otherwise only the account's name is known.
    package let isReadable: Bool
    /// Where the account's name comes from; known at the end of a sign-in alone.
    package internal(set) var naming = Naming.byServer

    /// Where an account's name comes from.
    package enum Naming: Sendable, Hashable {
        /// The server or the caller named the account.
        case byServer
        /// The server doesn't report who signed in, so the account is named after the provider. The name also has a
        /// number if the server fails only for now and a session already has that name.
        case byProvider
        /// This name is another person's account at the same server, so the session has a number after the name.
        case taken(String)
    }

    init(
        account: String, subject: String?, scopes: ScopeList, issued: UnixTime, expiry: UnixTime?, isRefreshable: Bool
    ) {
        self.account = account
        self.subject = subject
        self.scopes = scopes
        self.issued = issued
        self.expiry = expiry
        self.isRefreshable = isRefreshable
        isReadable = true
    }

    package init(unreadable account: String) {
        self.account = account
        (subject, scopes, issued, expiry) = (nil, [], UnixTime(seconds: 0), nil)
        (isRefreshable, isReadable) = (false, false)
    }
}

extension StoredSession {
    /// A session from the response to a code.
    init(
        _ tokens: borrowing TokenResponse, authority: String, clientID: String, account: String, subject: String?,
        scopes: ScopeList, keyThumbprint: String? = nil, resource: String? = nil, now: UnixTime
    ) {
        self.init(
            authority: authority, clientID: clientID, account: account, subject: subject,
            scopes: scopes, issued: now, expiry: Self.end(of: tokens.expiresInSeconds, now),
            idTokenExpiry: Self.end(of: tokens.idTokenExpiresInSeconds, now),
            basicForm: tokens.acceptedBasicForm, keyThumbprint: keyThumbprint, resource: resource,
            accessToken: tokens.accessToken.duplicate(),
            refreshToken: tokens.refreshToken?.duplicate(), idToken: tokens.idToken?.duplicate())
    }

    /// The session after a refresh. The ID token stays until it ends unless there is a new one (OpenID Connect Core
    /// section 12.2).
    ///
    /// - Parameter granted: the scopes, where the response names them; they too stay what they were.
    borrowing func refreshed(
        with tokens: borrowing TokenResponse, granted: ScopeList?, now: UnixTime
    ) -> StoredSession {
        // A step of the caller's own may leave the refresh token out, which means that the old one stays.
        let refreshToken: Secret<RefreshToken>? =
            switch tokens.refreshToken {
            case .some(let token): token.duplicate()
            case .none: refreshToken?.duplicate()
            }
        let newEnd = Self.end(of: tokens.idTokenExpiresInSeconds, now)
        let keepsIDToken = newEnd == nil && isUsable(at: now, .id)
        return StoredSession(
            authority: authority, clientID: clientID, account: account, subject: subject,
            scopes: granted ?? scopes, issued: now, expiry: Self.end(of: tokens.expiresInSeconds, now),
            idTokenExpiry: newEnd ?? (keepsIDToken ? idTokenExpiry : nil),
            basicForm: tokens.acceptedBasicForm ?? basicForm, keyThumbprint: keyThumbprint, resource: resource,
            accessToken: tokens.accessToken.duplicate(), refreshToken: refreshToken,
            idToken: keepsIDToken ? idToken?.duplicate() : tokens.idToken?.duplicate())
    }

    /// The same session, with or without the mark that a refresh was begun.
    borrowing func marked(_ began: UnixTime?) -> StoredSession { copy(refreshBegan: began, refreshToken) }

    /// The same session, without the token that only a refresh needs.
    var withoutRefreshToken: StoredSession { copy(refreshBegan: refreshBegan, nil) }

    private borrowing func copy(
        refreshBegan: UnixTime?, _ refreshToken: borrowing Secret<RefreshToken>?
    ) -> StoredSession {
        StoredSession(
            authority: authority, clientID: clientID, account: account, subject: subject, scopes: scopes,
            issued: issued, expiry: expiry, idTokenExpiry: idTokenExpiry, basicForm: basicForm,
            keyThumbprint: keyThumbprint, resource: resource, refreshBegan: refreshBegan,
            accessToken: accessToken.duplicate(), refreshToken: refreshToken?.duplicate(),
            idToken: idToken?.duplicate())
    }

    private static func end(of seconds: Int64?, _ now: UnixTime) -> UnixTime? {
        seconds.map { now.advanced(bySeconds: $0) }
    }
}

// MARK: - JSON

// One session as one JSON object (Docs/Reference/session-format.md), written to and read from guarded memory.

extension StoredSession {
    static let format: Int64 = 1
    /// Three tokens of the greatest length, escaped, and everything else.
    static let maximumByteCount = 512 << 10
    private static let maximumTextByteCount = 8192
    /// By how much a session that is being refreshed is larger in the store than it must be: for the new tokens.
    private static let roomByteCount = 4096

    borrowing func encoded() throws(JSONError) -> Secret<StoredLogin> {
        var json = JSONWriter(limit: Self.maximumByteCount)
        try json.member("latchkey_session", integer: Self.format)
        try json.member("authority", publicText: authority)
        try json.member("client_id", publicText: clientID)
        try json.member("account", publicText: account)
        if let subject { try json.member("subject", publicText: subject) }
        try json.member("token_type", publicText: keyThumbprint == nil ? "Bearer" : "DPoP")
        if let keyThumbprint { try json.member("key_thumbprint", publicText: keyThumbprint) }
        if let resource { try json.member("resource", publicText: resource) }
        try json.member("scopes", publicTexts: scopes.scopes)
        try json.member("issued_at", integer: issued.seconds)
        if let expiry { try json.member("expires_at", integer: expiry.seconds) }
        if let idTokenExpiry { try json.member("id_token_expires_at", integer: idTokenExpiry.seconds) }
        if let refreshBegan {
            try json.member("refresh_began_at", integer: refreshBegan.seconds)
            try json.member("room", publicText: String(repeating: ".", count: Self.roomByteCount))
        }
        if let basicForm { try json.member("basic_form", publicText: basicForm.rawValue) }
        try json.member("access_token", secret: accessToken)
        switch refreshToken {
        case .some(let token): try json.member("refresh_token", secret: token)
        case .none: break
        }
        switch idToken {
        case .some(let token): try json.member("id_token", secret: token)
        case .none: break
        }
        return try json.finish(as: StoredLogin.self)
    }

    /// Reads what `encoded` wrote. Throws for anything else, a format of the future included.
    init(decoding secret: borrowing Secret<StoredLogin>) throws(JSONError) {
        let limits = JSONLimits(byteCount: Self.maximumByteCount)
        let document = try JSONDocument(secret.duplicate(as: MessageBody.self), limits: limits)
        let reader = SessionReader(document: document)
        let keyThumbprint = try reader.text("key_thumbprint")
        guard try reader.integer("latchkey_session") == Self.format,
            try reader.text("token_type") == (keyThumbprint == nil ? "Bearer" : "DPoP")
        else { throw JSONError(.wrongType) }
        self.init(
            authority: try reader.required("authority"), clientID: try reader.required("client_id"),
            account: try reader.required("account"), subject: try reader.text("subject"),
            scopes: try reader.scopes("scopes"), issued: UnixTime(seconds: try reader.integer("issued_at") ?? 0),
            expiry: try reader.integer("expires_at").map(UnixTime.init(seconds:)),
            idTokenExpiry: try reader.integer("id_token_expires_at").map(UnixTime.init(seconds:)),
            basicForm: try reader.text("basic_form").flatMap(ClientAuthentication.BasicForm.init(rawValue:)),
            keyThumbprint: keyThumbprint, resource: try reader.text("resource"),
            refreshBegan: try reader.integer("refresh_began_at").map(UnixTime.init(seconds:)),
            accessToken: try reader.requiredSecret("access_token"),
            refreshToken: try reader.secret("refresh_token"), idToken: try reader.secret("id_token"))
    }

    /// Reads members of a session; what is missing is `nil`, what has another type is an error.
    private struct SessionReader: ~Copyable {
        let document: JSONDocument

        borrowing func text(_ name: StaticString) throws(JSONError) -> String? {
            guard let member = document.member(name) else { return nil }
            return try document.publicText(member, limit: StoredSession.maximumTextByteCount)
        }

        borrowing func required(_ name: StaticString) throws(JSONError) -> String {
            guard let text = try text(name) else { throw JSONError(.wrongType) }
            return text
        }

        borrowing func integer(_ name: StaticString) throws(JSONError) -> Int64? {
            guard let member = document.member(name) else { return nil }
            return try document.integer(member)
        }

        borrowing func secret<Purpose: SecretPurpose>(_ name: StaticString) throws(JSONError) -> Secret<Purpose>? {
            guard let member = document.member(name) else { return nil }
            return try document.secret(member, as: Purpose.self)
        }

        borrowing func requiredSecret<Purpose: SecretPurpose>(
            _ name: StaticString
        ) throws(JSONError) -> Secret<Purpose> {
            guard let secret: Secret<Purpose> = try secret(name), !secret.isEmpty else { throw JSONError(.wrongType) }
            return secret
        }

        borrowing func scopes(_ name: StaticString) throws(JSONError) -> ScopeList {
            guard let member = document.member(name) else { return [] }
            let scopes = try document.publicTexts(member, limit: ScopeList.maximumByteCount)
            guard let list = try? ScopeList(scopes) else { throw JSONError(.wrongType) }
            return list
        }
    }
}
