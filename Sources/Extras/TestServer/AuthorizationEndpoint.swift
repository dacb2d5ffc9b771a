internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import Synchronization

extension AuthorizationService {
    /// RFC 6749 section 4.1.1 with RFC 7636; PKCE is required except in GitHub's shape.
    func authorize(_ input: Input, shape: Shape) -> LoopbackResponse {
        guard let query = input.query else { return ConsentPage.refusal(status: 400) }
        let request: AuthorizationRequest
        if let reference = query.secret("request_uri") {
            guard let pushed = takePushed(reference, clientID: query.text("client_id")) else {
                return ConsentPage.refusal(status: 400)
            }
            request = pushed
        } else {
            if configuration.pushedRequests == .required, shape == .standard { return ConsentPage.refusal(status: 400) }
            switch read(query, shape: shape) {
            case .unknownClient: return ConsentPage.refusal(status: 400)
            case .refused(let request, let error): return redirect(request, error: error)
            case .valid(let valid): request = valid
            }
        }
        if has(.denied) { return deny(request) }
        switch configuration.consent {
        case .automatic: return grant(request)
        case .page: return showPage(for: request)
        }
    }

    enum Reading {
        /// Never a redirect to an address that no client registered (RFC 6749 section 4.1.2.1).
        case unknownClient
        case refused(AuthorizationRequest, String)
        case valid(AuthorizationRequest)
    }

    /// Reads a request's parameters, from a query or from a form that was pushed.
    func read(_ query: FormFields, shape: Shape) -> Reading {
        guard let client = client(query.text("client_id")),
            let redirectURI = query.text("redirect_uri") ?? (shape == .gitHub ? client.redirectURIs.first : nil),
            client.permits(redirectURI: redirectURI)
        else { return .unknownClient }
        let scopes = (query.text("scope") ?? "").split { $0 == " " || shape == .gitHub && $0 == "," }.map(String.init)
        let challenge = query.text("code_challenge")
        let request = AuthorizationRequest(
            shape: shape, clientID: client.identifier, redirectURI: redirectURI, scopes: scopes,
            state: query.secret("state"), nonce: query.secret("nonce"), challenge: challenge,
            keyThumbprint: query.text("dpop_jkt"))
        state.withLock { state in
            state.record.lastRequestHadState = request.state != nil
            state.record.lastRequestHadNonce = request.nonce != nil
            state.record.lastScopes = scopes
        }
        let responseType = query.text("response_type") ?? (shape == .gitHub ? "code" : nil)
        guard responseType == "code" else {
            return .refused(request, responseType == nil ? "invalid_request" : "unsupported_response_type")
        }
        if let declared = client.scopes, !Set(scopes).isSubset(of: declared) {
            return .refused(request, "invalid_scope")
        }
        guard scopes.allSatisfy(Self.isScope) else { return .refused(request, "invalid_scope") }
        let isChallenged = challenge.map {
            $0.utf8.count == 43 && Base64URL.decode($0) != nil && query.text("code_challenge_method") == "S256"
        }
        if let nonce = request.nonce, !nonce.isUnreserved { return .refused(request, "invalid_request") }
        guard isChallenged ?? (shape == .gitHub) else { return .refused(request, "invalid_request") }
        return .valid(request)
    }

    /// RFC 6749 section 3.3: printable ASCII without space, `"` and `\`.
    static func isScope(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    /// Handles the consent page's form: the request's number and a decision.
    func consent(_ input: Input) -> LoopbackResponse {
        guard let form = input.form, let number = form.secret("request") else {
            return ConsentPage.refusal(status: 400)
        }
        let digest = index.digest(number)
        guard let request = state.withLock({ $0.pending.removeValue(forKey: digest) }) else {
            return ConsentPage.refusal(status: 400)
        }
        return form.text("decision") == "allow" ? grant(request) : deny(request)
    }

    private func showPage(for request: AuthorizationRequest) -> LoopbackResponse {
        let number = KeptSecret.random("request")
        let digest = index.digest(number)
        state.withLock { $0.pending[digest] = request }
        return ConsentPage.question(request, number: number, login: configuration.login)
    }

    private func grant(_ request: AuthorizationRequest) -> LoopbackResponse {
        let code = KeptSecret.random("code")
        note(code)
        let digest = index.digest(code)
        state.withLock { state in
            state.codes[digest] = CodeGrant(
                request: request, family: state.newFamily(), expiry: .now + configuration.codeLifetime)
            state.record.codesIssued += 1
        }
        return redirect(request, code: code)
    }

    private func deny(_ request: AuthorizationRequest) -> LoopbackResponse {
        state.withLock { $0.record.denials += 1 }
        return redirect(request, error: "access_denied")
    }

    // MARK: - Back to the client

    /// RFC 6749 section 4.1.2 with RFC 9207's `iss`, which GitHub doesn't send.
    private func redirect(
        _ request: AuthorizationRequest, code: KeptSecret? = nil, error: String? = nil
    ) -> LoopbackResponse {
        var location = SecretText()
        location.add(request.redirectURI)
        location.add(request.redirectURI.contains("?") ? "&" : "?")
        addResponse(to: &location, request, code: code, error: error)
        if has(.repeatedParameters) {
            location.add("&")
            addResponse(to: &location, request, code: code, error: error)
        }
        return LoopbackResponse(status: 302, location: location.finish())
    }

    private func addResponse(
        to location: inout SecretText, _ request: AuthorizationRequest, code: KeptSecret?, error: String?
    ) {
        if let code {
            location.add("code=")
            location.add(code)
        } else if let error {
            location.add("error=" + error + "&error_description=")
            location.addEscaped(LoopbackAuthorizationServer.prose)
        }
        if has(.wrongState) {
            location.add("&state=not-the-state-that-was-sent")
        } else if let state = request.state, !has(.missingState) {
            location.add("&state=")
            location.addEscaped(state)
        }
        if has(.wrongIssuer) {
            location.add("&iss=https%3A%2F%2Fattacker.example")
        } else if request.shape == .standard, !has(.missingIssuer) {
            location.add("&iss=")
            location.addEscaped(issuer)
        }
    }
}

/// The pages that a person sees. Everything that came from outside is escaped.
enum ConsentPage {
    static func refusal(status: Int) -> LoopbackResponse {
        let html =
            PlainPage.opening(title: "This sign-in request is not valid")
            + "<p>Nothing was done. Go back to the program that sent you here, and start again.</p>\n"
            + PlainPage.closing
        return LoopbackResponse(
            status: status, contentType: PlainPage.contentType, publicText: html, fields: PlainPage.fields())
    }

    static func question(_ request: AuthorizationRequest, number: KeptSecret, login: String) -> LoopbackResponse {
        var page = SecretText()
        let scopes = request.scopes.isEmpty ? "nothing in particular" : request.scopes.joined(separator: ", ")
        page.add(PlainPage.opening(title: "Let \(request.clientID) sign you in as \(login)?"))
        page.add(
            """
            <p>It asks for: \(PlainPage.escaped(scopes)).</p>
            <form method="post" action="/consent">
            <input type="hidden" name="request" value="
            """)
        page.add(number)
        page.add(
            """
            ">
            <button name="decision" value="allow">Allow</button>
            <button name="decision" value="deny">Deny</button>
            </form>

            """)
        page.add(PlainPage.closing)
        return LoopbackResponse(
            status: 200, fields: [LoopbackField("Content-Type", PlainPage.contentType)] + PlainPage.fields(.form),
            body: page.finish())
    }
}

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
            var request: AuthorizationRequest
            switch read(form, shape: .standard) {
            case .valid(let valid): request = valid
            case .refused(_, let error): throw TokenRefusal(error)
            case .unknownClient: throw .request
            }
            guard request.clientID == client.identifier else { throw .request }
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

    /// Returns the request of a reference, once.
    func takePushed(_ reference: KeptSecret, clientID: String?) -> AuthorizationRequest? {
        let digest = index.digest(reference)
        guard let pushed = state.withLock({ $0.pushed.removeValue(forKey: digest) }), pushed.expiry > .now,
            pushed.request.clientID == clientID
        else { return nil }
        return pushed.request
    }
}
