internal import LatchkeyJSON
internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import Synchronization

extension AuthorizationService {
    /// RFC 7591 section 3: anyone may register a client with redirect addresses.
    func register(_ input: Input) -> LoopbackResponse {
        guard let document = try? JSONDocument(input.body.value.duplicate()),
            let list = document.member("redirect_uris"), let redirects = try? document.publicTexts(list, limit: 2048),
            !redirects.isEmpty, redirects.allSatisfy(Self.isRegistrable)
        else { return .oauthError("invalid_redirect_uri", status: 400) }
        let method =
            document.member("token_endpoint_auth_method").flatMap { try? document.publicText($0, limit: 64) }
            ?? "client_secret_basic"
        let authentication: AuthorizationServerRecord.ClientAuthentication
        switch method {
        case "none": authentication = .none
        case "client_secret_basic": authentication = .basic
        case "client_secret_post": authentication = .post
        default: return .oauthError("invalid_client_metadata", status: 400)
        }
        let identifier = "registered-" + (KeptSecret.random("client_id").publicText() ?? "")
        var members = [
            Member("client_id", .text(identifier)), Member("token_endpoint_auth_method", .text(method)),
            Member("redirect_uris", .list(redirects)),
        ]
        let secret = authentication == .none ? nil : KeptSecret.random("client_secret")
        if let secret {
            note(secret)
            members += [Member("client_secret", .secret(secret)), Member("client_secret_expires_at", .number(0))]
        }
        let client = LatchkeyTestServer.RegisteredClient(
            identifier, redirectURIs: redirects, secret: secret?.value.duplicate(as: ClientSecret.self), scopes: nil,
            method: authentication)
        state.withLock { state in
            state.registered.append(client)
            state.record.registrations += 1
        }
        return .members(members, status: 201, json: true)
    }

    /// Whether an address may be registered: absolute, without a fragment, and at the web or with an application's own
    /// scheme, which has a dot (RFC 8252 section 7.1). Here a star at the end would mean any path.
    private static func isRegistrable(_ uri: String) -> Bool {
        let bytes = Array(uri.utf8)
        guard bytes.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }), !uri.hasSuffix("/*"),
            let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
        else { return false }
        let scheme = bytes[..<colon].map { $0 | 0x20 }
        if ["http", "https"].contains(where: { $0.utf8.elementsEqual(scheme) }) {
            let rest = bytes[(colon + 1)...]
            return rest.starts(with: "//".utf8) && rest.count > 2 && rest.dropFirst(2).first != UInt8(ascii: "/")
        }
        let isNamed = scheme.first.map { (0x61...0x7A).contains($0) } ?? false
        return isNamed && scheme.contains(UInt8(ascii: "."))
            && scheme.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte) || [0x2B, 0x2D, 0x2E].contains(byte)
            }
    }
}
