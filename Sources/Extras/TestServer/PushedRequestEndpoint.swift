internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

/// A request that was pushed; it is good once, for a short while.
struct PushedAuthorization: Sendable {
    let request: AuthorizationRequest
    let expiry: ContinuousClock.Instant
}

extension AuthorizationService {
    /// RFC 9126 section 2.
    func push(_ input: Input) -> LoopbackResponse {
        do throws(TokenRefusal) {
            guard let form = input.form, form.secret("request_uri") == nil else { throw .request }
            let client = try authenticate(input, form)
            let key = try provenKey(input, shape: .standard, isOptional: configuration.atProtocolAccount == nil)
            guard case .valid(var request) = read(form, shape: .standard), request.clientID == client.identifier else {
                throw .request
            }
            if configuration.atProtocolAccount != nil, !request.scopes.contains("atproto") {
                throw TokenRefusal(name: "invalid_scope", gitHubName: "invalid_scope")
            }
            if let key {
                guard request.keyThumbprint == nil || request.keyThumbprint == key else { throw .request }
                request.keyThumbprint = key
            }
            let reference = KeptSecret.random("request_uri", prefix: "urn:ietf:params:oauth:request_uri:")
            note(reference)
            let digest = index.digest(reference)
            let pushed = PushedAuthorization(request: request, expiry: .now + configuration.codeLifetime)
            state.withLock { $0.pushed[digest] = pushed }
            return .members(
                [
                    Member("request_uri", .secret(reference)),
                    Member("expires_in", .number(Int(configuration.codeLifetime.components.seconds))),
                ], status: 201, json: true)
        } catch {
            return error.response
        }
    }

    /// The request that a reference stands for, once.
    func takePushed(_ reference: KeptSecret, clientID: String?) -> AuthorizationRequest? {
        let digest = index.digest(reference)
        guard let pushed = state.withLock({ $0.pushed.removeValue(forKey: digest) }), pushed.expiry > .now,
            pushed.request.clientID == clientID
        else { return nil }
        return pushed.request
    }
}
