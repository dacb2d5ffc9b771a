internal import LatchkeyLog
internal import LatchkeyLoopback
internal import Synchronization

/// A member of a flat response.
struct Member {
    enum Value {
        case text(String)
        case list([String])
        case number(Int)
        case secret(KeptSecret)
    }

    let name: String
    let value: Value

    init(_ name: String, _ value: Value) {
        self.name = name
        self.value = value
    }
}

extension LoopbackResponse {
    /// A flat JSON object, or the same as a form, which is GitHub's default.
    static func members(_ members: [Member], status: Int, json: Bool) -> LoopbackResponse {
        var text = SecretText()
        text.add(json ? "{" : "")
        for (index, member) in members.enumerated() {
            if index > 0 { text.add(json ? "," : "&") }
            text.add(json ? JSONText.quote(member.name) + ":" : member.name + "=")
            switch member.value {
            case .number(let number): text.add(String(number))
            case .text(let value) where json: text.addQuoted(value)
            case .text(let value): text.addEscaped(value)
            case .list(let values): text.add(JSONText.list(values))
            case .secret(let secret):
                text.add(json ? "\"" : "")
                text.add(secret)
                text.add(json ? "\"" : "")
            }
        }
        text.add(json ? "}" : "")
        let type = json ? "application/json; charset=utf-8" : "application/x-www-form-urlencoded; charset=utf-8"
        return LoopbackResponse(status: status, fields: [LoopbackField("Content-Type", type)], body: text.finish())
    }

    /// RFC 6749 section 5.2, with a description that must never be shown.
    static func oauthError(_ name: String, status: Int, json: Bool = true) -> LoopbackResponse {
        var response = LoopbackResponse.members(
            [Member("error", .text(name)), Member("error_description", .text(LoopbackAuthorizationServer.prose))],
            status: status, json: json)
        if status == 401 { response.fields.append(LoopbackField("WWW-Authenticate", "Basic realm=\"token\"")) }
        return response
    }
}

extension AuthorizationService {
    /// RFC 8414 section 2 and OpenID Connect Discovery section 3.
    func metadata() -> LoopbackResponse {
        let origin = state.withLock { $0.origin }
        let methods = has(.metadataWithoutS256) ? ["plain"] : ["S256"]
        var offered: [(String, String)] = []
        if configuration.pushedRequests != .none {
            offered.append(("pushed_authorization_request_endpoint", JSONText.quote(origin + "/par")))
            let isRequired = configuration.pushedRequests == .required
            offered.append(("require_pushed_authorization_requests", isRequired ? "true" : "false"))
        }
        if configuration.offersDeviceGrant {
            offered.append(("device_authorization_endpoint", JSONText.quote(origin + "/device_authorization")))
        }
        if configuration.allowsRegistration {
            offered.append(("registration_endpoint", JSONText.quote(origin + "/register")))
        }
        if configuration.atProtocolAccount != nil {
            offered.append(("scopes_supported", JSONText.list(["atproto", "transition:generic"])))
            offered.append(("client_id_metadata_document_supported", "true"))
        }
        let missing = state.withLock { state in
            state.faults.compactMap { if case .metadataWithout(let member) = $0 { member } else { nil } }
        }
        let members =
            [
                ("issuer", JSONText.quote(has(.metadataNamesAnotherIssuer) ? "https://attacker.example" : issuer)),
                ("authorization_endpoint", JSONText.quote(origin + "/authorize")),
                ("token_endpoint", JSONText.quote(origin + "/token")),
                ("revocation_endpoint", JSONText.quote(origin + "/revoke")),
                ("userinfo_endpoint", JSONText.quote(origin + "/userinfo")),
                ("jwks_uri", JSONText.quote(origin + "/jwks")),
                ("subject_types_supported", JSONText.list(["public"])),
                ("id_token_signing_alg_values_supported", JSONText.list(["ES256"])),
                ("response_types_supported", JSONText.list(["code"])),
                ("response_modes_supported", JSONText.list(["query"])),
                (
                    "grant_types_supported",
                    JSONText.list(
                        ["authorization_code", "refresh_token"]
                            + (configuration.offersDeviceGrant ? ["urn:ietf:params:oauth:grant-type:device_code"] : []))
                ),
                ("code_challenge_methods_supported", JSONText.list(methods)),
                (
                    "token_endpoint_auth_methods_supported",
                    JSONText.list(["none", "client_secret_basic", "client_secret_post"])
                ),
                ("dpop_signing_alg_values_supported", JSONText.list([has(.metadataWithoutES256) ? "EdDSA" : "ES256"])),
                ("authorization_response_iss_parameter_supported", "true"),
            ] + offered
        let text = JSONText.object(members.filter { !missing.contains($0.0) })
        return LoopbackResponse(status: 200, contentType: "application/json", publicText: text)
    }

    /// OpenID Connect Core section 5.3, or GitHub's `GET /user`.
    func userInfo(_ input: Input, shape: Shape) -> LoopbackResponse {
        let boundToken = shape == .standard ? input.authorization?.behind(scheme: "dpop") : nil
        let token =
            boundToken
            ?? input.authorization.flatMap { value in
                value.behind(scheme: "bearer") ?? (shape == .gitHub ? value.behind(scheme: "token") : nil)
            }
        var keyThumbprint: String?
        if let boundToken {
            do throws(ProofRefusal) {
                keyThumbprint = try checkProof(of: input, token: boundToken)
            } catch {
                return Self.proofChallenge(error)
            }
        }
        if let token { note(token) }
        let digest = token.map { index.digest($0) }
        let found = state.withLock { state -> TokenGrant? in
            guard let grant = digest.flatMap({ state.tokens[$0] }), grant.kind == .access, grant.isValid else {
                return nil
            }
            return grant.keyThumbprint == keyThumbprint ? grant : nil
        }
        let scheme = boundToken == nil ? "Bearer" : "DPoP"
        guard let found else {
            let challenge = token == nil ? scheme : "\(scheme) error=\"invalid_token\""
            return LoopbackResponse(
                status: 401, contentType: "application/json", publicText: "{\"message\":\"Bad credentials\"}",
                fields: [LoopbackField("WWW-Authenticate", challenge)])
        }
        guard found.opensUserInfo else {
            return LoopbackResponse(
                status: 403, fields: [LoopbackField("WWW-Authenticate", "\(scheme) error=\"insufficient_scope\"")])
        }
        if let token, has(.accessTokenAsName) {
            let names = ["preferred_username", "login", "name"].map { Member($0, .secret(token)) }
            return .members([Member("sub", .text(configuration.login))] + names, status: 200, json: true)
        }
        let login = JSONText.quote(configuration.login)
        let members =
            shape == .gitHub
            ? [("login", login), ("id", "1"), ("type", "\"User\""), ("name", login)]
            : [("sub", login), ("preferred_username", login), ("name", login)]
        return LoopbackResponse(status: 200, contentType: "application/json", publicText: JSONText.object(members))
    }
}
