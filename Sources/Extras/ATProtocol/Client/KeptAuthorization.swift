internal import LatchkeyJSON
internal import LatchkeyCredentials
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn

/// An authorization that has begun: what another process needs to go on with it, one item in the store.
struct KeptAuthorization: Sendable {
    let did: String
    /// The name that the session will be kept under.
    let account: String
    /// The origin of the account's own server.
    let resource: String
    let issuer: String
    let clientID: String
    let redirect: String
    let scopes: ScopeList
    let keyThumbprint: String
    let expiry: UnixTime

    static let format: Int64 = 1
    static let maximumByteCount = 64 << 10

    func encoded(with pending: borrowing PendingAuthorization) throws(JSONError) -> Secret<PendingSecrets> {
        var json = JSONWriter(limit: Self.maximumByteCount)
        try json.member("latchkey_pending", integer: Self.format)
        try json.member("did", publicText: did)
        try json.member("account", publicText: account)
        try json.member("resource", publicText: resource)
        try json.member("issuer", publicText: issuer)
        try json.member("client_id", publicText: clientID)
        try json.member("redirect", publicText: redirect)
        try json.member("scopes", publicTexts: scopes.scopes)
        try json.member("key_thumbprint", publicText: keyThumbprint)
        try json.member("expires_at", integer: expiry.seconds)
        try pending.write(to: &json)
        return try json.finish(as: PendingSecrets.self)
    }

    init(
        did: DID, account: String, resource: String, issuer: String, clientID: String, redirect: RedirectURI,
        scopes: ScopeList, keyThumbprint: String, expiry: UnixTime
    ) {
        self.did = did.text
        self.account = account
        self.resource = resource
        self.issuer = issuer
        self.clientID = clientID
        self.redirect = redirect.text
        self.scopes = scopes
        self.keyThumbprint = keyThumbprint
        self.expiry = expiry
    }

    /// Reads what `encoded` wrote; the secrets stay in the document.
    init(reading document: borrowing JSONDocument) throws(JSONError) {
        func text(_ name: StaticString, _ document: borrowing JSONDocument) throws(JSONError) -> String {
            guard let member = document.member(name) else { throw JSONError(.wrongType) }
            return try document.publicText(member, limit: 8192)
        }
        guard let format = document.member("latchkey_pending"), try document.integer(format) == Self.format,
            let end = document.member("expires_at"), let list = document.member("scopes")
        else { throw JSONError(.wrongType) }
        var scopes: [String] = []
        for element in document.elements(of: list) { scopes.append(try document.publicText(element, limit: 4096)) }
        guard let scopeList = try? ScopeList(scopes) else { throw JSONError(.wrongType) }
        did = try text("did", document)
        account = try text("account", document)
        resource = try text("resource", document)
        issuer = try text("issuer", document)
        clientID = try text("client_id", document)
        redirect = try text("redirect", document)
        self.scopes = scopeList
        keyThumbprint = try text("key_thumbprint", document)
        expiry = UnixTime(seconds: try document.integer(end))
    }

    /// The item that it is kept under: one for each provider's name, since one authorization goes on at a time.
    static func key(in sessions: SessionStore) throws(StoreError) -> CredentialKey {
        guard let kind = CredentialKind("authorization") else {
            preconditionFailure("a kind in the source is malformed")
        }
        return try sessions.key("pending", kind: kind)
    }
}
