internal import LatchkeyJSON
internal import LatchkeyCredentials
internal import LatchkeyOAuth
internal import LatchkeySecrets

// One session as one JSON object (Docs/Formats/session-v1.md), written to and read from guarded memory.

extension StoredSession {
    static let format: Int64 = 1
    /// Two tokens of the greatest length, escaped, and everything else.
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
        if let refreshExpiry { try json.member("refresh_expires_at", integer: refreshExpiry.seconds) }
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
            refreshExpiry: try reader.integer("refresh_expires_at").map(UnixTime.init(seconds:)),
            basicForm: try reader.text("basic_form").flatMap(ClientAuthentication.BasicForm.init(rawValue:)),
            keyThumbprint: keyThumbprint, resource: try reader.text("resource"),
            refreshBegan: try reader.integer("refresh_began_at").map(UnixTime.init(seconds:)),
            accessToken: try reader.requiredSecret("access_token"),
            refreshToken: try reader.secret("refresh_token"))
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
            var scopes: [String] = []
            for element in document.elements(of: member) {
                scopes.append(try document.publicText(element, limit: ScopeList.maximumByteCount))
            }
            guard let list = try? ScopeList(scopes) else { throw JSONError(.wrongType) }
            return list
        }
    }
}
