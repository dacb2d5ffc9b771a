internal import LatchkeyJSON
internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import Synchronization

extension AuthorizationService {
    /// RFC 7009: 200 also for tokens that the server doesn't know.
    func revoke(_ input: Input) -> LoopbackResponse {
        do throws(TokenRefusal) {
            guard let form = input.form, let token = form.secret("token") else { throw .request }
            let client = try authenticate(input, form)
            endFamily(of: token, client: client)
            return LoopbackResponse(status: 200)
        } catch {
            return error.response
        }
    }

    /// GitHub's `DELETE /applications/{client_id}/token`: 204, 404 for wrong credentials, 422 for an unknown token.
    func gitHubRevoke(_ input: Input, client identifier: String) -> LoopbackResponse {
        guard let client = client(identifier), let authorization = input.authorization,
            let pair = BasicCredentials(authorization), pair.identifier == identifier
        else { return LoopbackResponse(status: 404) }
        note(pair.secret)
        switch client.secret {
        case .some(let expected):
            guard pair.secret.value.matches(expected) else { return LoopbackResponse(status: 404) }
        case .none: return LoopbackResponse(status: 404)
        }
        guard let document = try? JSONDocument(input.body.value.duplicate()),
            let member = document.member("access_token"),
            let secret = try? document.secret(member, as: MessageBody.self)
        else { return LoopbackResponse(status: 422) }
        let token = KeptSecret("access_token", secret)
        note(token)
        return LoopbackResponse(status: endFamily(of: token, client: client) ? 204 : 422)
    }

    @discardableResult
    private func endFamily(of token: KeptSecret, client: RegisteredClient) -> Bool {
        let digest = index.digest(token)
        return state.withLock { state in
            guard let grant = state.tokens[digest], grant.clientID == client.identifier, !grant.isRevoked else {
                return false
            }
            state.revoke(family: grant.family)
            state.record.revocations += 1
            return true
        }
    }
}
