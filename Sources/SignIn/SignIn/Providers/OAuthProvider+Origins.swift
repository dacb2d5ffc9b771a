internal import LatchkeyHTTP
internal import LatchkeyOAuth

extension OAuthProvider {
    /// The origins that access tokens may be sent to: those of the servers that it names, and its `apiOrigins`.
    package var origins: Set<String> {
        var origins = apiOrigins
        switch server {
        case .issuer(let issuer):
            if let url = try? HTTPURL(issuer.text) { origins.insert(url.origin) }
        case .endpoints(let server):
            origins.insert(server.authorizationEndpoint.origin)
            origins.insert(server.tokenEndpoint.origin)
            if let url = server.userinfoEndpoint { origins.insert(url.origin) }
        }
        if case .resource(let url, _, _) = account { origins.insert(url.origin) }
        if case .gitHub(let api) = revocation { origins.insert(api.origin) }
        if let knownAccount { origins.insert(knownAccount.resource) }
        return origins
    }
}
