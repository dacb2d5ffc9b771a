internal import LatchkeyCredentials
package import LatchkeyHTTP
internal import LatchkeyJSON
internal import LatchkeyLog

/// Posts forms to a server's token and revocation endpoints, with the client's authentication.
///
/// Redirects are never followed. A redirect's status is an error.
struct EndpointClient: Sendable {
    let clientID: String
    let http: any HTTPTransport
    /// The signer of the key that each request proves, if any.
    var dpop: DPoPProofSigner? = nil
    let log: RedactedLogger
    /// Whether a task can't be cancelled once its request is on the way. The server's tokens then always arrive, and
    /// are stored or revoked. Each request has a time limit.
    var finishesWhatIsSent = false
    var limits = EndpointClient.limits
    /// Whether the form names the client even if Basic credentials do. RFC 9126 section 2.1 requires that of a pushed
    /// request, because `client_id` is a parameter of the authorization request itself.
    var alwaysNamesClient = false

    static let limits = TransferLimits(maximumBodyByteCount: 256 << 10, timeout: .seconds(30))

    /// Returns the response whatever its status.
    ///
    /// A server that refuses the client gets Basic credentials once more raw instead of form-encoded (RFC 6749 section
    /// 2.3.1), where that makes a difference: some servers don't decode them. After `invalid_client` it gets the secret
    /// once more in the form instead of in Basic credentials, or the other way round.
    func post(
        _ url: HTTPURL, _ form: consuming FormBody, authentication: borrowing ClientAuthentication
    ) async throws(OAuthError) -> EndpointResponse {
        switch authentication.secret {
        case .none:
            var form = form
            // RFC 6749 section 3.2.1: a client that doesn't authenticate names itself.
            try form.append("client_id", text: clientID)
            let body = form.finish(as: MessageBody.self)
            return try await send(url, authorization: nil) { () throws(OAuthError) in body.duplicate() }
        case .some(let secret):
            let fields = form.finish(as: MessageBody.self)
            if let assertion = authentication.assertion {
                return try await send(url, fields, authentication.key(), assertion)
            }
            let ways = try ways(authentication, secret)
            var response = try await send(url, fields, secret, ways[0])
            for way in ways.dropFirst()
            where way == .raw ? response.refusesClient : response.error == .invalidClient {
                log.debug(
                    "the server refused the client; sending the request once more with the other authentication method")
                response = try await send(url, fields, secret, way)
            }
            return response
        }
    }

    /// How the secret is sent, the usual way first.
    private func ways(
        _ authentication: borrowing ClientAuthentication, _ secret: borrowing Secret<ClientSecret>
    ) throws(OAuthError) -> [ClientAuthentication.BasicForm] {
        if let known = authentication.basicForm { return [known] }
        let others = authentication.triesOtherMethod
        if authentication.method == .secretPost { return others ? [.body, .formEncoded] : [.body] }
        let matters = try BasicCredentials.encodingMatters(clientID: clientID, secret: secret)
        return [.formEncoded] + (matters ? [.raw] : []) + (others ? [.body] : [])
    }

    private func send(
        _ url: HTTPURL, _ fields: borrowing Secret<MessageBody>, _ secret: borrowing Secret<ClientSecret>,
        _ way: ClientAuthentication.BasicForm
    ) async throws(OAuthError) -> EndpointResponse {
        var form = try FormBody(after: fields)
        if alwaysNamesClient || way == .body { try form.append("client_id", text: clientID) }
        if way == .body { try form.append("client_secret", secret: secret) }
        let field =
            way == .body
            ? nil : try BasicCredentials.field(clientID: clientID, secret: secret, formEncoded: way == .formEncoded)
        let body = form.finish(as: MessageBody.self)
        var response = try await send(url, authorization: field) { () throws(OAuthError) in body.duplicate() }
        response.basicForm = way
        return response
    }

    /// Sends the client's assertion, for the server's issuer. If the server refuses it and our clock differs, sends an
    /// assertion by the server's clock. If the server refuses the client again, sends an assertion for the endpoint at
    /// the same origin, because RFC 7523 section 3 leaves the audience open and some servers compare that address.
    private func send(
        _ url: HTTPURL, _ fields: borrowing Secret<MessageBody>, _ key: borrowing ES256Key,
        _ assertion: ClientAuthentication.Assertion
    ) async throws(OAuthError) -> EndpointResponse {
        var issued = assertion.now()
        var response = try await send(url, fields, key, assertion.audience, issued: issued)
        if response.error == .invalidClient, let date = response.date,
            abs(date.seconds - issued.seconds) > ES256Key.assertionLifetime / 2
        {
            log.debug("the server's clock differs; sending the request once more with an assertion by its clock")
            issued = date
            response = try await send(url, fields, key, assertion.audience, issued: issued)
        }
        guard response.error == .invalidClient, let issuer = try? HTTPURL(assertion.audience),
            issuer.origin == url.origin
        else { return response }
        log.debug("the server refused the client; sending the request once more with an assertion for the endpoint")
        return try await send(url, fields, key, url.text, issued: issued)
    }

    private func send(
        _ url: HTTPURL, _ fields: borrowing Secret<MessageBody>, _ key: borrowing ES256Key, _ audience: String,
        issued: UnixTime
    ) async throws(OAuthError) -> EndpointResponse {
        try await send(url, authorization: nil) { () throws(OAuthError) in
            var form = try FormBody(after: fields)
            try form.append("client_id", text: clientID)
            try form.append("client_assertion_type", text: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
            try form.append(
                "client_assertion", secret: key.assertion(clientID: clientID, audience: audience, issued: issued))
            return form.finish(as: MessageBody.self)
        }
    }

    /// Posts a form with an access token instead of a client's credentials.
    func post(
        _ url: HTTPURL, _ form: consuming FormBody, bearer: borrowing Secret<AccessToken>
    ) async throws(OAuthError) -> EndpointResponse {
        var sink = AuthorizationFieldSink(scheme: dpop == nil ? "Bearer" : "DPoP")
        try bearer.pour(into: &sink)
        let body = form.finish(as: MessageBody.self)
        return try await send(url, authorization: sink.finish(), tokenHash: DPoPProof.hash(of: bearer)) {
            () throws(OAuthError) in body.duplicate()
        }
    }

    /// - Parameter body: called for each request: a server takes an assertion once (RFC 7523 section 3).
    private func send(
        _ url: HTTPURL, authorization: consuming Secret<MessageBody>?, tokenHash: String? = nil,
        body: () throws(OAuthError) -> Secret<MessageBody>
    ) async throws(OAuthError) -> EndpointResponse {
        var request = GuardedRequest(
            .post, url, fields: EndpointFields.form, authorization: authorization?.duplicate(), body: try body())
        guard let dpop else { return EndpointResponse(try await transfer(request)) }
        let basis = try dpop.prove(&request, tokenHash: tokenHash)
        let received = try await transfer(request)
        let response = EndpointResponse(received)
        // RFC 9449 section 8: 400 with `use_dpop_nonce`, before anything was used up. `invalid_dpop_proof` may be about
        // the nonce too, or about the time.
        guard dpop.learn(from: received, of: url, sent: basis),
            response.error == .useDPoPNonce || response.error == .invalidDPoPProof
        else { return response }
        log.debug("the server requires a new proof; sending the request once more")
        var again = GuardedRequest(
            .post, url, fields: EndpointFields.form, authorization: authorization, body: try body())
        let newBasis = try dpop.prove(&again, tokenHash: tokenHash)
        let last = try await transfer(again)
        _ = dpop.learn(from: last, of: url, sent: newBasis)
        return EndpointResponse(last)
    }

    private func transfer(_ request: consuming GuardedRequest) async throws(OAuthError) -> GuardedResponse {
        guard finishesWhatIsSent else { return try await http.response(to: request, limits: limits, log: log) }
        guard !Task.isCancelled else { throw .cancelled(request.url) }
        let outgoing = Handover(request)
        let result = await Task { [http, limits, log] () async -> Result<Handover<GuardedResponse>, OAuthError> in
            guard let request = outgoing.take() else { preconditionFailure("a request is sent once") }
            do throws(OAuthError) {
                return .success(Handover(try await http.response(to: request, limits: limits, log: log)))
            } catch {
                return .failure(error)
            }
        }.value
        guard let response = try result.get().take() else { preconditionFailure("a response is read once") }
        return response
    }
}

/// The fields of our requests.
package enum EndpointFields {
    package static let json = make([("Accept", "application/json")])
    /// Of a request with a body of JSON.
    package static let jsonBody = make([("Accept", "application/json"), ("Content-Type", "application/json")])
    static let formAlone = make([("Content-Type", "application/x-www-form-urlencoded")])
    static let form = make([("Accept", "application/json"), ("Content-Type", "application/x-www-form-urlencoded")])

    private static func make(_ pairs: [(String, String)]) -> [HeaderField] {
        pairs.map { name, value in
            guard let field = HeaderField(name, value) else {
                preconditionFailure("a field in the source is malformed")
            }
            return field
        }
    }
}

extension OAuthError {
    static func cancelled(_ url: HTTPURL) -> OAuthError {
        let origin = LoggableText(reviewed: "the origin of a configured endpoint", unredacted: url.origin)
        return OAuthError(.networkError(TransportError(.cancelled, origin: origin)))
    }
}

extension HTTPTransport {
    /// Sends a request, and converts the transport's errors to ours.
    func response(
        to request: consuming GuardedRequest, limits: TransferLimits, log: RedactedLogger
    ) async throws(OAuthError) -> GuardedResponse {
        let (method, url) = (request.method, request.url)
        do throws(TransportError) {
            let response = try await send(request, limits: limits)
            log.debug("\(method) \(url): status \(response.status)")
            return response
        } catch {
            log.info("\(method) \(url): \(error)")
            throw error.code == .bodyTooLarge
                ? OAuthError(.invalidResponse(.tooLarge)) : OAuthError(.networkError(error))
        }
    }
}

/// An endpoint's response, read as JSON where it is.
struct EndpointResponse: ~Copyable {
    let status: Int
    let isEmpty: Bool
    /// `nil` unless the body is a JSON object.
    let document: JSONDocument?
    var isNoJSON: Bool { document == nil }
    /// The response's `error`, whatever its status: GitHub sends it with 200.
    let error: ServerErrorCode?
    /// The time of the server's clock, if known.
    let date: UnixTime?
    /// The error if it isn't a success.
    var failure: OAuthError { OAuthError(.exchangeFailed(statusCode: status), serverError: error) }
    /// How the client's secret was sent, if there was one.
    var basicForm: ClientAuthentication.BasicForm?

    init(_ response: borrowing GuardedResponse) {
        status = response.status
        isEmpty = response.body.isEmpty
        date = response.field("Date").flatMap(HTTPDate.parse)
        guard let document = Self.read(response.body) else {
            document = nil
            error = nil
            return
        }
        error = Self.error(in: document)
        self.document = consume document
    }

    private static func read(_ body: borrowing Secret<MessageBody>) -> JSONDocument? {
        guard !body.isEmpty, let document = try? JSONDocument(body.duplicate()), document.root.kind == .object else {
            return nil
        }
        return consume document
    }

    private static func error(in document: borrowing JSONDocument) -> ServerErrorCode? {
        guard let member = document.member("error") else { return nil }
        guard let text = try? document.publicText(member, limit: 128) else { return .other }
        return ServerErrorCode(text: text)
    }

    var isSuccess: Bool { (200...299).contains(status) && error == nil }

    /// Whether it may be the client that the server didn't know. glewlwyd says `unauthorized_client`, an empty 403, or
    /// at a refresh an empty 400.
    var refusesClient: Bool {
        switch error {
        case .invalidClient, .incorrectClientCredentials: true
        case .unauthorizedClient: true
        case .none: status == 401 || status == 403 || (status == 400 && isEmpty)
        default: false
        }
    }
}
