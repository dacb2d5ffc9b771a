internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import LatchkeySystem

extension ATProtocolClient {
    /// Everything that is known before an account signs in.
    struct Destination: Sendable {
        let did: DID
        /// The name that the session will be kept under.
        let account: String
        let resource: String
        let server: AuthorizationServerMetadata
        let clientID: String
    }

    /// Checks the client, finds the account, and finds the server that authorizes for it, in this order.
    func destination(of identifier: AccountIdentifier) async throws(ATProtocolError) -> Destination {
        let clientID = try await checkedClientID()
        let identity = try await resolver.identity(of: identifier)
        try configuration.reach.check(identity.personalServer)
        log.debug("the account's own server is \(identity.personalServer)")
        let resource = try await ResourceMetadata.fetch(
            from: identity.personalServer, http: context.http, reach: configuration.reach, log: log)
        let server = try await server(resource.authorizationServer)
        return Destination(
            did: identity.did, account: identity.handle?.text ?? identity.did.text,
            resource: identity.personalServer.origin, server: server, clientID: clientID)
    }

    /// An authorization server that follows the profile.
    func server(_ issuer: Issuer) async throws(ATProtocolError) -> AuthorizationServerMetadata {
        let server = try await mapError(
            ATProtocolError.oauth,
            awaiting: await AuthorizationServerMetadata.discover(issuer, over: context.http, log: log))
        try configuration.reach.check(server)
        return server
    }

    /// The client's id; a redirect that it doesn't have is refused before any other request.
    private func checkedClientID() async throws(ATProtocolError) -> String {
        let (redirect, scopes) = (configuration.redirect, configuration.scopes)
        switch configuration.client {
        case .loopback:
            guard scopes.contains("atproto") else { throw .client(.withoutATProtoScope) }
            return try LoopbackClient.identifier(redirect: redirect, scopes: scopes)
        case .loaded(let document):
            try document.check(redirect, scopes)
            return document.clientID
        case .document(let url):
            let document = try await ClientDocument.fetch(
                from: url, http: context.http, reach: configuration.reach, log: log)
            try document.check(redirect, scopes)
            return document.clientID
        }
    }
}
