internal import LatchkeyJSON
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth

/// The client that a host registered for this program, in a store: its ID with its redirect and scopes, and its secret,
/// at the place where `SignInService` looks for it.
struct StoredClients: Sendable {
    let store: any CredentialStore
    let provider: ProviderName
    /// The host's origin.
    let host: String
    let deadline: Deadline

    /// The purpose of the item that contains a client. The item isn't secret, but a store only contains secrets.
    private enum RegisteredClient: SecretPurpose { static var name: StaticString { "registered client" } }

    static let format: Int64 = 1
    static let maximumByteCount = 64 << 10

    struct Client: Sendable {
        let clientID: String
        let redirect: String
        let scopes: ScopeList
        /// How the host wants the client's secret; `nil` in items of version 0.1.
        let method: ClientAuthentication.Method?

        /// Whether the client may have its responses there, and request as much.
        func serves(_ provider: OAuthProvider) -> Bool {
            redirect.hasSameOctets(as: provider.redirect.text) && provider.scopes.scopes.allSatisfy(scopes.contains)
        }
    }

    private func key() throws(StoreError) -> CredentialKey {
        guard let kind = CredentialKind("client") else { preconditionFailure("a kind in the source is malformed") }
        return try mapError(
            { (error: InvalidValue) in StoreError(.permissionDenied, "the host can't be a key: \(error.cause)") },
            of: CredentialKey(service: SessionStore.service(ofProvider: provider.text), account: host, kind: kind))
    }

    func lease(_ leases: LeaseDirectory) async throws(StoreError) -> Lease {
        try await store.exclusiveAccess(to: try key(), in: leases, deadline: deadline)
    }

    /// Returns the client, or `nil` when there is none, or what is there can't be read: then the host gives another.
    func load() async throws(StoreError) -> Client? {
        guard let record = try await store.read(try key(), as: RegisteredClient.self, deadline: deadline) else {
            return nil
        }
        return try? Client(reading: record.takeSecret().repurposed(as: MessageBody.self))
    }

    func delete() async throws(StoreError) {
        try await store.delete(try key(), condition: .none, deadline: deadline)
    }

    /// Whether the secret that goes with the client is still there.
    func hasSecret(of provider: OAuthProvider) async throws(StoreError) -> Bool {
        let key = try SignInService.clientSecretKey(of: provider)
        return try await store.read(key, as: ClientSecret.self, deadline: deadline) != nil
    }

    func deleteSecret(of provider: OAuthProvider) async throws(StoreError) {
        try await store.delete(
            try SignInService.clientSecretKey(of: provider), condition: .none, deadline: deadline)
    }

    /// Keeps what a host gave: the secret first, as a client without it is of no use.
    func save(_ identity: borrowing ClientIdentity, as provider: OAuthProvider) async throws(StoreError) {
        switch identity.secret {
        case .some(let secret):
            try await store.save(
                secret, for: try SignInService.clientSecretKey(of: provider),
                options: SaveOptions(label: "Client secret of \(provider.name)", contentType: .text),
                deadline: deadline)
        case .none: break
        }
        let content = try mappingError({ (_: JSONError) in
            StoreError(.tooLarge, "the client is too large for a store")
        }) { () throws(JSONError) in
            var json = JSONWriter(limit: Self.maximumByteCount)
            try json.member("latchkey_client", integer: Self.format)
            try json.member("client_id", publicText: identity.clientID)
            try json.member("redirect", publicText: provider.redirect.text)
            try json.member("scopes", publicTexts: provider.scopes.scopes)
            try json.member("method", publicText: identity.method.rawValue)
            return try json.finish(as: RegisteredClient.self)
        }
        try await store.save(
            content, for: try key(),
            options: SaveOptions(label: "Client of \(provider.name)", contentType: .text), deadline: deadline)
    }
}

extension StoredClients.Client {
    fileprivate init(reading content: consuming Secret<MessageBody>) throws(JSONError) {
        let document = try JSONDocument(content, limits: JSONLimits(byteCount: StoredClients.maximumByteCount))
        guard let format = document.member("latchkey_client"), try document.integer(format) == StoredClients.format,
            let clientID = document.member("client_id"), let redirect = document.member("redirect"),
            let list = document.member("scopes")
        else { throw JSONError(.wrongType) }
        let scopes = try document.publicTexts(list, limit: 4096)
        guard let scopeList = try? ScopeList(scopes) else { throw JSONError(.wrongType) }
        self.init(
            clientID: try document.publicText(clientID, limit: 2048),
            redirect: try document.publicText(redirect, limit: 2048), scopes: scopeList,
            method: document.member("method").flatMap { try? document.publicText($0, limit: 64) }
                .flatMap(ClientAuthentication.Method.init))
    }
}
