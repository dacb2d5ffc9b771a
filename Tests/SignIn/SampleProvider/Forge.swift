import LatchkeyOAuth
import LatchkeySignIn

extension BuiltInProvider {
    /// A forge that people run themselves: on whatever host, with endpoints below `/oauth`.
    static let forge = BuiltInProvider(
        "forge", host: .standard("forge.example.org"), registrationPage: "/settings/applications",
        server: .endpoints(authorization: "/oauth/authorize", token: "/oauth/token"), scopes: ["read"],
        account: Account("/api/user", .login), api: nil)
}
