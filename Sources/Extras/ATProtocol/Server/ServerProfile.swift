internal import LatchkeyHTTP
internal import LatchkeyOAuth

extension NetworkReach {
    /// Throws `.requirementMissing` for the first thing that AT Protocol's profile requires of an authorization server
    /// and that this one lacks, `.addressRefused` for an endpoint at an address that no request may go to.
    func check(_ server: AuthorizationServerMetadata) throws(ATProtocolError) {
        func require(_ holds: Bool, _ requirement: ATProtocolError.Requirement) throws(ATProtocolError) {
            guard holds else { throw ATProtocolError(.requirementMissing(requirement)) }
        }
        try require(server.pushedAuthorizationRequestEndpoint != nil, .pushedRequests)
        try require(server.requiresPushedRequests, .pushedRequestsRequired)
        try require(server.dpopAlgorithms?.contains("ES256") ?? false, .es256Proofs)
        try require(server.scopes?.contains("atproto") ?? false, .atprotoScope)
        try require(server.readsClientDocuments, .clientDocuments)
        try require(server.announcesIssuerInResponses, .issuerInResponses)
        try require(server.challengeMethods?.contains("S256") ?? false, .s256Challenge)
        try require(server.grantTypes?.contains("authorization_code") ?? false, .codeGrant)
        try require(server.grantTypes?.contains("refresh_token") ?? false, .refreshGrant)
        try require(server.clientAuthenticationMethods?.contains(.none) ?? false, .publicClients)
        let endpoints = [
            server.authorizationEndpoint, server.tokenEndpoint, server.pushedAuthorizationRequestEndpoint,
            server.revocationEndpoint,
        ]
        for case let endpoint? in endpoints { try check(endpoint) }
    }
}
