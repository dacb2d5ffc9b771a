internal import LatchkeyJSON
internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import Synchronization

extension AuthorizationService {
    /// RFC 7591 section 3: anyone may register a client with redirect addresses.
    func register(_ input: Input) -> LoopbackResponse {
        guard let document = try? JSONDocument(input.body.value.duplicate()),
            let list = document.member("redirect_uris")
        else { return .oauthError("invalid_redirect_uri", status: 400) }
        var redirects: [String] = []
        for element in document.elements(of: list) {
            guard let text = try? document.publicText(element, limit: 2048) else {
                return .oauthError("invalid_redirect_uri", status: 400)
            }
            redirects.append(text)
        }
        guard !redirects.isEmpty else { return .oauthError("invalid_redirect_uri", status: 400) }
        let method =
            document.member("token_endpoint_auth_method").flatMap { try? document.publicText($0, limit: 64) }
            ?? "client_secret_basic"
        let identifier = "registered-" + (KeptSecret.random("client_id").publicText() ?? "")
        var members = [
            Member("client_id", .text(identifier)), Member("token_endpoint_auth_method", .text(method)),
            Member("redirect_uris", .list(redirects)),
        ]
        let secret = method == "none" ? nil : KeptSecret.random("client_secret")
        if let secret {
            note(secret)
            members += [Member("client_secret", .secret(secret)), Member("client_secret_expires_at", .number(0))]
        }
        let client = LatchkeyTestServer.RegisteredClient(
            identifier, redirectURIs: redirects, secret: secret?.value.duplicate(as: ClientSecret.self))
        state.withLock { state in
            state.registered.append(client)
            state.record.registrations += 1
        }
        return .members(members, status: 201, json: true)
    }
}
