internal import LatchkeyCredentials
internal import LatchkeyJSON
internal import LatchkeyLog
public import LatchkeyOAuth
internal import LatchkeySecrets
public import LatchkeySignIn
internal import LatchkeySystem

extension ATProtocolClient {
    /// Begins an authorization that `resumeAuthorization` ends, in this process or in another one with the same store.
    ///
    /// Returns the address for the person. The store keeps the key for the tokens, then the attempt itself, for
    /// `configuration.timeout`. Throws `.authorizationInProgress` during another authorization, and `.signIn` with
    /// `.oauth(.invalidConfiguration)`: `.scope` for `openid`, because an ID token isn't checked in two steps, and
    /// `.redirectPort` for a loopback address without a port. Otherwise throws as `authenticate`.
    ///
    /// - Parameter handle: a handle or a DID.
    public func beginAuthorization(handle: String) async throws(ATProtocolError) -> AuthorizationURL {
        let identifier = try AccountIdentifier(handle)
        guard !configuration.redirect.needsPort else { throw .oauth(OAuthError(.invalidConfiguration(.redirectPort))) }
        guard !configuration.scopes.includesOpenID else { throw .oauth(OAuthError(.invalidConfiguration(.scope))) }
        guard !isAuthenticating else { throw ATProtocolError(.authorizationInProgress) }
        isAuthenticating = true
        defer { isAuthenticating = false }
        try await refuseWhilePending()
        let destination = try await destination(of: identifier)
        let begun = try await begin(at: destination)
        guard let signer = begun.signer else { preconditionFailure("the provider uses DPoP") }
        let (seconds, fraction) = configuration.timeout.components
        let kept = KeptAuthorization(
            did: destination.did.text, account: destination.account, resource: destination.resource,
            issuer: destination.server.issuer?.text ?? "", clientID: destination.clientID,
            redirect: configuration.redirect.text, scopes: configuration.scopes, keyThumbprint: signer.thumbprint,
            expiry: context.now().advanced(bySeconds: seconds).advanced(bySeconds: fraction > 0 ? 1 : 0))
        do throws(StoreError) {
            // The key first, as at a sign-in: an attempt without its key would be of no use.
            try await sessions.saveKey(signer.key, account: kept.account)
            try await save(kept, begun.pending)
        } catch {
            await forget(keyOf: signer.thumbprint)
            throw error.code == .conflict ? ATProtocolError(.authorizationInProgress) : .signIn(.store(error))
        }
        log.info("an authorization has begun")
        return begun.url.duplicate()
    }

    /// Ends an authorization, which may have begun in another process: validates the response, exchanges it, stores the
    /// session, and makes its account the current one.
    ///
    /// A response with another state throws `.signIn` with `.oauth(.stateMismatch)` and has no other effect: the right
    /// response may still arrive. A response with the right state ends the authorization, even if the server refuses
    /// it. If the server's metadata can't be requested, the authorization stays, and the same response can be passed
    /// again. Throws `.noAuthorizationPending`, `.authorizationExpired`, `.keyLost`, `.subjectMismatch`,
    /// `.scopeMissing`.
    ///
    /// The state doesn't tell one browser from another: a web server must check that the response comes from the
    /// browser that it sent to the server, such as by a cookie.
    @discardableResult
    public func resumeAuthorization(
        with response: consuming AuthorizationResponse
    ) async throws(ATProtocolError) -> SessionSummary {
        guard let record = try await pendingRecord() else { throw ATProtocolError(.noAuthorizationPending) }
        let version = record.version
        let document = try Self.document(of: record.takeSecret())
        let kept = try Self.kept(in: document)
        guard context.now() < kept.expiry else {
            try await end(kept, version)
            throw ATProtocolError(.authorizationExpired)
        }
        // A forged response costs no request.
        let isOurs = try mapError(
            { (_: JSONError) in Self.unreadable }, of: PendingAuthorization.recognizes(response, in: document))
        guard isOurs else { throw .oauth(OAuthError(.stateMismatch)) }
        // Found again, not remembered: metadata is public, and could have been changed in the store.
        let service = try await service(for: kept)
        let pending = try await pending(of: kept, document, service.provider)
        let key = try await stored(await sessions.loadKey(kept.keyThumbprint))
        // From here on no other process can go on with it.
        try await take(version)
        guard let key else { throw ATProtocolError(.keyLost) }
        do throws(SignInError) {
            let summary = try await service.resume(
                pending, with: response, signer: await service.signer(with: key), account: kept.account)
            keep(service, for: summary.account)
            return summary
        } catch {
            // A session with this key doesn't exist.
            await forget(keyOf: kept.keyThumbprint)
            throw .signIn(error)
        }
    }

    /// Gives up an authorization that has begun. Returns whether there was one.
    ///
    /// Throws `.signIn` when the store can't be read or written, and `.noAuthorizationPending` if it ends elsewhere at
    /// the same time.
    @discardableResult
    public func cancelAuthorization() async throws(ATProtocolError) -> Bool {
        guard let record = try await pendingRecord() else { return false }
        let version = record.version
        guard let document = try? Self.document(of: record.takeSecret()), let kept = try? Self.kept(in: document) else {
            // An unreadable item can be deleted too.
            try await take(version)
            return true
        }
        try await end(kept, version)
        return true
    }

    // MARK: - Steps

    private func begin(at destination: Destination) async throws(ATProtocolError) -> SignInService.BegunSignIn {
        let service = try service(for: destination)
        return try await mapError(
            ATProtocolError.signIn, awaiting: await service.begin(redirect: configuration.redirect))
    }

    private func service(for kept: KeptAuthorization) async throws(ATProtocolError) -> SignInService {
        let issuer = try mapError(ATProtocolError.oauth, of: Issuer(kept.issuer))
        let server = try await server(issuer)
        return try service(
            for: Destination(
                did: try DID(kept.did), account: kept.account, resource: kept.resource, server: server,
                clientID: kept.clientID))
    }

    private func pending(
        of kept: KeptAuthorization, _ document: borrowing JSONDocument, _ provider: OAuthProvider
    ) async throws(ATProtocolError) -> PendingAuthorization {
        guard case .endpoints(let server) = provider.server else { preconditionFailure("the server is known") }
        let request = try mappingError(ATProtocolError.oauth) { () throws(OAuthError) in
            let redirect = try RedirectURI(kept.redirect, allowingAnyPrivateScheme: true)
            let client = try ClientConfiguration(clientID: kept.clientID, redirect: redirect, scopes: kept.scopes)
            return try AuthorizationRequest(server: server, client: client, keyThumbprint: kept.keyThumbprint)
        }
        return try mapError(
            { (_: JSONError) in Self.unreadable }, of: PendingAuthorization(reading: document, of: request))
    }

    // MARK: - In the store

    private func save(
        _ kept: KeptAuthorization, _ pending: borrowing PendingAuthorization
    ) async throws(StoreError) {
        let secret = try mapError(
            { (_: JSONError) in StoreError(.tooLarge, "the authorization is larger than a store takes") },
            of: kept.encoded(with: pending))
        let options = SaveOptions(
            label: "\(kept.account) at \(sessions.provider) (sign-in that has begun)", contentType: .text,
            condition: .absent)
        let lease = try await lease()
        try await store.save(
            secret, for: try KeptAuthorization.key(in: sessions), options: options, deadline: .standard)
        lease.release()
    }

    /// Some stores keep a condition only under a lease.
    private func lease() async throws(StoreError) -> Lease {
        try await sessions.lease("pending", deadline: .standard)
    }

    private func pendingRecord() async throws(ATProtocolError) -> CredentialRecord<PendingSecrets>? {
        try await stored(await store.read(try KeptAuthorization.key(in: sessions), as: PendingSecrets.self))
    }

    private static func document(
        of secret: consuming Secret<PendingSecrets>
    ) throws(ATProtocolError) -> JSONDocument {
        let limits = JSONLimits(byteCount: KeptAuthorization.maximumByteCount)
        guard let document = try? JSONDocument(secret.repurposed(as: MessageBody.self), limits: limits) else {
            throw unreadable
        }
        return document
    }

    private static func kept(in document: borrowing JSONDocument) throws(ATProtocolError) -> KeptAuthorization {
        return try mapError({ (_: JSONError) in unreadable }, of: KeptAuthorization(reading: document))
    }

    private static var unreadable: ATProtocolError {
        .signIn(.store(StoreError(.corrupted, "the sign-in that has begun can't be read", hint: "cancel it")))
    }

    /// Throws `.authorizationInProgress` while one goes on; one that has expired is cleared away.
    func refuseWhilePending() async throws(ATProtocolError) {
        guard let record = try await pendingRecord() else { return }
        let version = record.version
        let document = try Self.document(of: record.takeSecret())
        let kept = try Self.kept(in: document)
        guard context.now() >= kept.expiry else { throw ATProtocolError(.authorizationInProgress) }
        try await end(kept, version)
    }

    /// Deletes the item, once. A second caller doesn't find it.
    private func take(_ version: CredentialVersion) async throws(ATProtocolError) {
        let isDeleted = try await mappingError({ (error: StoreError) in
            error.code == .conflict ? ATProtocolError(.noAuthorizationPending) : .signIn(.store(error))
        }) { () async throws(StoreError) in
            let lease = try await lease()
            let key = try KeptAuthorization.key(in: sessions)
            let isDeleted = try await store.delete(key, condition: .matches(version), deadline: .standard)
            lease.release()
            return isDeleted
        }
        guard isDeleted else { throw ATProtocolError(.noAuthorizationPending) }
    }

    private func end(_ kept: KeptAuthorization, _ version: CredentialVersion) async throws(ATProtocolError) {
        try await take(version)
        await forget(keyOf: kept.keyThumbprint)
    }

    /// In a task of its own: a web server cancels the caller's when the browser goes away.
    private func forget(keyOf thumbprint: String) async {
        let deletion = Task { [sessions] () async -> StoreError? in
            await failure(StoreError.self, awaiting: try await sessions.deleteKey(thumbprint))
        }
        if let error = await deletion.value {
            log.warning("can't delete a key that is no longer needed: \(error)")
        }
    }
}

/// An authorization that has begun: what another process needs to go on with it, one item in the store.
struct KeptAuthorization: Sendable {
    let did: String
    /// The name of the new session.
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
}

extension KeptAuthorization {
    /// Reads what `encoded` wrote; the secrets stay in the document.
    init(reading document: borrowing JSONDocument) throws(JSONError) {
        func text(_ name: StaticString, _ document: borrowing JSONDocument) throws(JSONError) -> String {
            guard let member = document.member(name) else { throw JSONError(.wrongType) }
            return try document.publicText(member, limit: 8192)
        }
        guard let format = document.member("latchkey_pending"), try document.integer(format) == Self.format,
            let end = document.member("expires_at"), let list = document.member("scopes")
        else { throw JSONError(.wrongType) }
        let scopes = try document.publicTexts(list, limit: 4096)
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

    /// The key of the attempt's item: one for each provider's name, because only one authorization runs at a time.
    static func key(in sessions: SessionStore) throws(StoreError) -> CredentialKey {
        guard let kind = CredentialKind("authorization") else {
            preconditionFailure("a kind in the source is malformed")
        }
        return try sessions.key("pending", kind: kind)
    }
}
