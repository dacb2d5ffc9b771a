import LatchkeyOAuth
import LatchkeySignIn

extension BuiltInProvider {
    /// A forge that people run themselves: on whatever host, with endpoints below `/oauth`.
    static let forge = BuiltInProvider(
        "forge", host: .standard("forge.example.org"), registrationPage: "/settings/applications"
    ) { choices, host throws(OAuthError) in
        let server = try AuthorizationServerMetadata(
            authorizationEndpoint: host.url("/oauth/authorize"), tokenEndpoint: host.url("/oauth/token"),
            clientAuthenticationMethods: [.none])
        return try OAuthProvider(
            name: choices.name, server: .endpoints(server), clientID: choices.clientID,
            scopes: choices.scopes ?? ["read"], redirect: choices.redirect,
            account: .resource(host.url("/api/user"), name: .login, subject: .id))
    }
}
