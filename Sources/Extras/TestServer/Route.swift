internal import LatchkeyLoopback

/// Where a request goes.
enum Route: Sendable {
    case metadata
    case keySet
    case authorize(Shape)
    case push
    case beginDevice(Shape)
    /// Where a person decides about a device.
    case decideDevice
    case register
    /// The buttons of the consent page.
    case consent
    case token(Shape)
    case revoke
    case gitHubRevoke(client: String)
    case userInfo(Shape)
    case stray

    var endpoint: AuthorizationServerEndpoint {
        switch self {
        case .metadata: .metadata
        case .keySet: .keySet
        case .push: .pushedAuthorization
        case .beginDevice, .decideDevice: .deviceAuthorization
        case .register: .registration
        case .authorize, .consent: .authorization
        case .token: .token
        case .revoke, .gitHubRevoke: .revocation
        case .userInfo: .userInfo
        case .stray: .stray
        }
    }

    /// Whether requests here may carry a DPoP proof, and responses a nonce.
    var takesProofs: Bool {
        switch self {
        case .token(.standard), .userInfo(.standard), .push: true
        default: false
        }
    }

    init?(_ method: LoopbackMethod, _ path: String, issuerPath: String) {
        switch (method, path) {
        case (_, "/stray"): self = .stray
        // RFC 8414 section 3.1 puts the well-known part before the path, OpenID Connect Discovery behind it.
        case (.get, "/.well-known/oauth-authorization-server" + issuerPath),
            (.get, issuerPath + "/.well-known/openid-configuration"):
            self = .metadata
        case (.get, "/jwks"): self = .keySet
        case (.get, "/authorize"): self = .authorize(.standard)
        case (.get, "/login/oauth/authorize"): self = .authorize(.gitHub)
        case (.post, "/par"): self = .push
        case (.post, "/device_authorization"): self = .beginDevice(.standard)
        case (.post, "/login/device/code"): self = .beginDevice(.gitHub)
        case (.get, "/device"): self = .decideDevice
        case (.post, "/register"): self = .register
        case (.post, "/consent"): self = .consent
        case (.post, "/token"): self = .token(.standard)
        case (.post, "/login/oauth/access_token"): self = .token(.gitHub)
        case (.post, "/revoke"): self = .revoke
        case (.get, "/userinfo"): self = .userInfo(.standard)
        // At an Enterprise host the API is below a path.
        case (.get, "/user"), (.get, "/api/v3/user"): self = .userInfo(.gitHub)
        case (.delete, _):
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 4, parts[1] == "applications", parts[3] == "token" else { return nil }
            self = .gitHubRevoke(client: String(parts[2]))
        default: return nil
        }
    }
}
