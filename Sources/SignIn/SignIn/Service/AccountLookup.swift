internal import LatchkeyJSON
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

/// The account that signed in, according to the server.
package struct AccountIdentity: Sendable, Hashable {
    /// The name under which the session is stored.
    package let name: String
    /// The server's own identifier, which stays when the name changes.
    package let subject: String?
    /// Where the name comes from.
    var naming = SessionSummary.Naming.byServer
    /// Whether the session may take the place of one whose owner is unknown too.
    var mayReplace = true
}

/// Asks a server who an access token belongs to.
struct AccountLookup: Sendable {
    let source: OAuthProvider.AccountSource
    let server: AuthorizationServerMetadata
    let http: any HTTPTransport
    let dpop: DPoPProofSigner?
    let log: RedactedLogger

    private static let limits = TransferLimits(maximumBodyByteCount: 256 << 10, timeout: .seconds(30))

    /// Returns the account that signed in, or `nil` if the server doesn't report it. The tokens are valid anyway, but
    /// the session gets another name.
    ///
    /// Throws `.accountMismatch` if the user information is about a different person than the ID token, `.resource` for
    /// an address that must not get a request, and `.cancelled`. Without an ID token, throws `isPassing` errors for a
    /// server that can't be reached or fails for now.
    ///
    /// - Parameters:
    ///   - subject: the `sub` of the ID token, if there is one.
    ///   - name: the ID token's name of the account, if it has one.
    func identify(
        _ token: borrowing Secret<AccessToken>, subject: String?, name: String? = nil
    ) async throws(SignInError) -> AccountIdentity? {
        let known = subject.map { AccountIdentity(name: name ?? $0, subject: $0) }
        if name != nil, source == .userInfo || source == .nowhere { return known }
        switch await Result<AccountIdentity?, SignInError>(awaiting: try await ask(token, subject)) {
        case .success(let found): return found ?? known
        case .failure(let error):
            guard error.leavesNameOpen, known != nil || !error.isPassing else { throw error }
            log.warning("can't ask the server who signed in: \(error)")
            return known
        }
    }

    /// Returns what the server says, or `nil` if it says nothing that is a name.
    private func ask(
        _ token: borrowing Secret<AccessToken>, _ subject: String?
    ) async throws(SignInError) -> AccountIdentity? {
        switch source {
        case .userInfo:
            guard let url = server.userinfoEndpoint else { return nil }
            return try Self.userInfo(try await fetch(url, token, server.transport(http)), expecting: subject)
        case .resource(let url, let name, let subject):
            let document = try await fetch(url, token, http)
            return Self.text(name.rawValue, in: document).map {
                AccountIdentity(name: $0, subject: Self.text(subject.rawValue, in: document))
            }
        case .nowhere: return nil
        }
    }

    /// The user information must be about the ID token's person (OpenID Connect Core section 5.3.2).
    private static func userInfo(
        _ document: borrowing JSONDocument, expecting subject: String?
    ) throws(SignInError) -> AccountIdentity? {
        let theirs = text("sub", in: document)
        if let subject, theirs?.hasSameOctets(as: subject) != true { throw SignInError(.accountMismatch) }
        let name = text("preferred_username", in: document) ?? text("email", in: document) ?? theirs
        return name.map { AccountIdentity(name: $0, subject: theirs) }
    }

    /// A string, or a whole number as text.
    private static func text(_ name: String, in document: borrowing JSONDocument) -> String? {
        guard let member = document.member(named: name, of: document.root) else { return nil }
        if let number = try? document.integer(member) { return String(number) }
        guard let text = try? document.publicText(member, limit: 1024), !text.isEmpty else { return nil }
        return text
    }

    private func fetch(
        _ url: HTTPURL, _ token: borrowing Secret<AccessToken>, _ http: any HTTPTransport
    ) async throws(SignInError) -> JSONDocument {
        let request = GuardedRequest(.get, url, fields: EndpointFields.json)
        let response: GuardedResponse
        do throws(OAuthError) {
            response = try await ResourceClient(http: http, dpop: dpop, log: log)
                .send(request, token: token, limits: Self.limits)
        } catch {
            if case .networkError(let cause) = error.code { throw .resource(ResourceError(.networkError(cause))) }
            throw .oauth(error)
        }
        let status = response.status
        log.debug("GET \(url), for who signed in: status \(status)")
        if let error = ResourceError(response) { throw .resource(error) }
        do throws(JSONError) {
            let document = try JSONDocument(response.body.duplicate())
            guard document.root.kind == .object else { throw JSONError(.wrongType) }
            return document
        } catch {
            throw .resource(ResourceError(.invalidResponse))
        }
    }
}

extension SignInError {
    /// Whether the server may answer later.
    var isPassing: Bool {
        guard case .resource(let error) = code else { return false }
        if case .networkError(let cause) = error.code { return OAuthError(.networkError(cause)).isTransient }
        return error.kind == .tryAgain || error.kind == .unavailable
    }

    /// Whether a look-up that ended in this error says nothing about the tokens: no request was refused for safety, and
    /// no response was about another person.
    fileprivate var leavesNameOpen: Bool {
        switch code {
        case .resource(let error):
            if case .networkError(let cause) = error.code { cause.code != .addressRefused } else { true }
        case .oauth: true
        default: false
        }
    }
}
