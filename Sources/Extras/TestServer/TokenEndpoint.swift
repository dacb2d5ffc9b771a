internal import LatchkeyJSON
internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization

/// An OAuth error: the RFC's name and GitHub's.
struct TokenRefusal: Error {
    let name: String
    let gitHubName: String

    static let request = TokenRefusal(name: "invalid_request", gitHubName: "invalid_request")
    static let client = TokenRefusal(name: "invalid_client", gitHubName: "incorrect_client_credentials")
    static let code = TokenRefusal(name: "invalid_grant", gitHubName: "bad_verification_code")
    static let redirect = TokenRefusal(name: "invalid_grant", gitHubName: "redirect_uri_mismatch")
    static let refresh = TokenRefusal(name: "invalid_grant", gitHubName: "bad_refresh_token")
    static let grantType = TokenRefusal(name: "unsupported_grant_type", gitHubName: "unsupported_grant_type")

    /// RFC 6749 section 5.2.
    var response: LoopbackResponse { .oauthError(name, status: name == "invalid_client" ? 401 : 400) }
}

extension AuthorizationService {
    /// RFC 6749 sections 4.1.3 and 6, or GitHub's variation: status 200 for errors, JSON only when asked for.
    func token(_ input: Input, shape: Shape) -> LoopbackResponse {
        do throws(TokenRefusal) {
            guard let form = input.form else { throw .request }
            let client = try authenticate(input, form)
            switch form.text("grant_type") ?? (shape == .gitHub ? "authorization_code" : nil) {
            case "authorization_code": return try exchange(form, client, input, shape: shape)
            case "refresh_token": return try refresh(form, client, input, shape: shape)
            case "urn:ietf:params:oauth:grant-type:device_code" where configuration.offersDeviceGrant:
                return try deviceTokens(form, client, input, shape: shape)
            default: throw .grantType
            }
        } catch {
            switch shape {
            case .standard: return error.response
            case .gitHub: return .oauthError(error.gitHubName, status: 200, json: input.wantsJSON)
            }
        }
    }

    /// The key that a request proves to have; `nil` for one without a proof.
    func provenKey(_ input: Input, shape: Shape, isOptional: Bool = false) throws(TokenRefusal) -> String? {
        let isNeeded = (configuration.requiresDPoP || configuration.atProtocolAccount != nil) && !isOptional
        guard shape == .standard, !input.proofs.isEmpty || isNeeded else { return nil }
        return try mapError(
            { (error: ProofRefusal) in TokenRefusal(name: error.name, gitHubName: error.name) },
            of: checkProof(of: input, token: nil))
    }

    private func require(_ bound: String?, _ proven: String?, _ refusal: TokenRefusal) throws(TokenRefusal) {
        guard let bound, bound != proven else { return }
        state.withLock { $0.record.proofProblems[.otherKey, default: 0] += 1 }
        throw refusal
    }

    // MARK: - Clients

    /// RFC 6749 section 2.3: Basic with form-encoded parts, parameters, or for a public client its identifier alone.
    func authenticate(_ input: Input, _ form: FormFields) throws(TokenRefusal) -> RegisteredClient {
        let method: AuthorizationServerRecord.ClientAuthentication
        let identifier: String?
        let secret: KeptSecret?
        if let authorization = input.authorization {
            guard let pair = BasicCredentials(authorization), form.secret("client_secret") == nil,
                form.secret("client_id") == nil || form.text("client_id") == pair.identifier
            else { throw .client }
            (method, identifier, secret) = (.basic, pair.identifier, pair.secret)
            note(pair.secret)
        } else {
            secret = form.secret("client_secret")
            (method, identifier) = (secret == nil ? .none : .post, form.text("client_id"))
        }
        state.withLock { $0.record.clientAuthentication[method, default: 0] += 1 }
        guard let client = client(identifier), client.method == nil || client.method == method else { throw .client }
        let isRight: Bool
        switch client.secret {
        case .some(let expected): isRight = secret.map { $0.value.matches(expected) } ?? false
        case .none: isRight = secret == nil
        }
        guard isRight else { throw .client }
        return client
    }

    // MARK: - Codes

    private func exchange(
        _ form: FormFields, _ client: RegisteredClient, _ input: Input, shape: Shape
    ) throws(TokenRefusal) -> LoopbackResponse {
        guard let code = form.secret("code") else { throw .request }
        // GitHub's web flow wants the secret, with PKCE too.
        if shape == .gitHub, client.secret == nil { throw .client }
        // A refused proof uses nothing up.
        let key = try provenKey(input, shape: shape)
        let digest = index.digest(code)
        let found = state.withLock { state -> CodeGrant? in
            guard let grant = state.codes[digest] else { return nil }
            if grant.isUsed {
                // A second use ends what the first one brought (RFC 6749 section 4.1.2).
                state.record.replays += 1
                state.revoke(family: grant.family)
                return nil
            }
            state.codes[digest]?.isUsed = true
            return grant
        }
        // GitHub's endpoints have no PKCE of their own: a code of theirs is good there alone.
        guard let grant = found, grant.request.clientID == client.identifier, grant.request.shape == shape,
            grant.expiry > .now
        else { throw .code }
        // GitHub doesn't require it.
        let redirectURI = form.text("redirect_uri") ?? (shape == .gitHub ? grant.request.redirectURI : nil)
        guard let redirectURI, redirectURI.utf8.elementsEqual(grant.request.redirectURI.utf8) else { throw .redirect }
        guard proves(form.secret("code_verifier"), grant.request.challenge) else { throw .code }
        try require(grant.request.keyThumbprint, key, .code)
        state.withLock { $0.record.codesExchanged += 1 }
        return issue(
            TokenSet(
                client: client, scopes: grant.request.scopes, family: grant.family, shape: shape,
                nonce: grant.request.nonce, keyThumbprint: key), json: input.wantsJSON)
    }

    /// RFC 7636 section 4.6. A verifier without a challenge is wrong too.
    private func proves(_ verifier: KeptSecret?, _ challenge: String?) -> Bool {
        let isRight: Bool
        if let verifier, let challenge {
            isRight = verifier.value.withExposedBytes { bytes in
                let isWellFormed =
                    (43...128).contains(bytes.count) && bytes.indices.allSatisfy { ASCII.isUnreserved(bytes[$0]) }
                let digest = SHA256.digest(bytes)
                return isWellFormed && Base64URL.encode(digest.span) == challenge
            }
        } else {
            isRight = verifier == nil && challenge == nil
        }
        state.withLock { state in
            if isRight, verifier != nil { state.record.matchingVerifiers += 1 }
            if !isRight { state.record.wrongVerifiers += 1 }
        }
        return isRight
    }

    // MARK: - Refresh

    private func refresh(
        _ form: FormFields, _ client: RegisteredClient, _ input: Input, shape: Shape
    ) throws(TokenRefusal) -> LoopbackResponse {
        guard let token = form.secret("refresh_token") else { throw .request }
        let digest = index.digest(token)
        let key = try provenKey(input, shape: shape)
        let known = state.withLock { $0.tokens[digest] }
        // RFC 9449 section 5: a client that proves itself may have another key each time.
        if client.secret == nil { try require(known?.keyThumbprint, key, .refresh) }
        let wanted = form.text("scope")?.split(separator: " ").map(String.init)
        if let wanted, let known, !Set(wanted).isSubset(of: known.scopes) { throw TokenRefusal("invalid_scope") }
        let found = state.withLock { state -> TokenGrant? in
            guard let grant = state.tokens[digest], grant.kind == .refresh, grant.clientID == client.identifier else {
                return nil
            }
            if grant.isRotated {
                state.record.replays += 1
                state.revoke(family: grant.family)
            }
            guard grant.isValid else { return nil }
            state.tokens[digest]?.isRotated = true
            state.record.refreshes += 1
            return grant
        }
        guard let grant = found else { throw .refresh }
        return issue(
            TokenSet(
                client: client, scopes: grant.scopes, family: grant.family, shape: shape, nonce: nil,
                keyThumbprint: key), narrowedTo: wanted, json: input.wantsJSON)
    }

    // MARK: - Tokens

    struct TokenSet {
        let client: RegisteredClient
        let scopes: [String]
        let family: Int
        let shape: Shape
        let nonce: KeptSecret?
        let keyThumbprint: String?
    }

    /// - Parameter scopes: those of the access token, if they aren't all (RFC 6749 section 6). Without `openid` among
    ///   them it no longer opens the user's information.
    func issue(_ set: TokenSet, narrowedTo scopes: [String]? = nil, json: Bool) -> LoopbackResponse {
        let isGitHub = set.shape == .gitHub
        let expires = !isGitHub || configuration.gitHubTokensExpire
        let lifetime = expires ? configuration.accessTokenLifetime : nil
        // An OAuth App's token, or one of a GitHub App for a person, which has permissions and no scopes.
        let isOfApp = isGitHub && expires
        let access = newToken(
            "access_token", .access, set, scopes ?? set.scopes,
            prefix: isGitHub ? isOfApp ? "ghu_" : "gho_" : "", lifetime: lifetime)
        let refresh =
            expires
            ? newToken("refresh_token", .refresh, set, set.scopes, prefix: isGitHub ? "ghr_" : "", lifetime: nil) : nil
        let type =
            has(.unknownTokenType)
            ? "mystery"
            : isGitHub ? "bearer" : set.keyThumbprint == nil || has(.bearerInsteadOfDPoP) ? "Bearer" : "DPoP"
        let all = scopes ?? set.scopes
        let granted = isOfApp ? [] : has(.grantsOneScope) ? Array(all.prefix(1)) : all
        let shown = has(.withoutATProtoScope) ? granted.filter { $0 != "atproto" } : granted
        var members: [Member] = [Member("token_type", .text(type))]
        if has(.accessTokenInScope) {
            members.append(Member("scope", .secret(access)))
        } else if isGitHub || !shown.isEmpty {
            // RFC 6749 section 3.3 requires at least one character in a scope.
            members.append(Member("scope", .text(shown.joined(separator: isGitHub ? "," : " "))))
        }
        if let account = configuration.atProtocolAccount, !has(.missingSubject) {
            let subject = has(.wrongSubject) ? "did:plc:" + String(repeating: "z", count: 24) : account
            members.append(Member("sub", .text(subject)))
        }
        if !has(.missingAccessToken) { members.insert(Member("access_token", .secret(access)), at: 0) }
        if let lifetime { members.append(Member("expires_in", .number(Int(lifetime.components.seconds)))) }
        if let refresh { members.append(Member("refresh_token", .secret(refresh))) }
        if !isGitHub, set.scopes.contains("openid"), !has(.missingIDToken) {
            members.append(Member("id_token", .secret(identityToken(set))))
        }
        if isGitHub, refresh != nil { members.append(Member("refresh_token_expires_in", .number(15_811_200))) }
        return .members(members, status: 200, json: !isGitHub || json)
    }

    private func identityToken(_ set: TokenSet) -> KeptSecret {
        let token = identityTokens.token(
            issuer: issuer, subject: has(.foreignIDToken) ? "somebody-else" : configuration.login,
            audience: set.client.identifier, nonce: has(.wrongNonce) ? KeptSecret.random("nonce") : set.nonce,
            algorithm: has(.symmetricIDToken) ? "HS256" : "ES256", isForged: has(.forgedIDToken))
        note(token)
        return token
    }

    private func newToken(
        _ name: String, _ kind: TokenGrant.Kind, _ set: TokenSet, _ scopes: [String], prefix: String,
        lifetime: Duration?
    ) -> KeptSecret {
        let token = KeptSecret.random(name, prefix: prefix)
        note(token)
        let digest = index.digest(token)
        state.withLock { state in
            state.tokens[digest] = TokenGrant(
                kind: kind, clientID: set.client.identifier, scopes: scopes, family: set.family,
                opensUserInfo: scopes.contains("openid") || !set.scopes.contains("openid"),
                keyThumbprint: set.keyThumbprint, expiry: lifetime.map { .now + $0 })
        }
        return token
    }
}

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
