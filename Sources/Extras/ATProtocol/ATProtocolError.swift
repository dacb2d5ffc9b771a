public import LatchkeyHTTP
public import LatchkeyLog
internal import LatchkeyOAuth
public import LatchkeySignIn

/// An error of finding, signing in, using or signing out an account on AT Protocol. It contains neither secrets nor
/// text of servers.
public struct ATProtocolError: RedactedError, Hashable {
    /// The kind of error. An inner error keeps its own `codeName`, cause and hint.
    public enum Code: Sendable, Hashable {
        // MARK: The account
        /// The text isn't a handle; see ``ATProtocolHandle``.
        case invalidHandle
        /// The text is no DID, or one of a method other than `plc` and `web`; see ``DID``.
        case invalidDID
        /// Neither the DNS nor the host names a valid DID.
        case handleNotFound
        /// The DNS names several.
        case handleAmbiguous
        /// The handle leads to a DID whose document names another handle, or none.
        case handleMismatch
        /// The directory or the host lacks a document of this DID.
        case didNotFound
        /// The DID's document can't be used.
        case invalidDocument(DocumentProblem)
        /// An address that leads to this machine, into a private network, or isn't HTTPS; nothing was sent.
        case addressRefused

        // MARK: Its servers
        /// The account's server doesn't say, in a way that can be used, which server authorizes for it (RFC 9728).
        case invalidResourceMetadata(ResourceProblem)
        /// The authorization server lacks what the profile requires.
        case requirementMissing(Requirement)

        // MARK: The client
        /// The client's own metadata document can't be used.
        case invalidClientMetadata(ClientProblem)
        /// The redirect address is not in the client's metadata, or not one that such a client may have.
        case invalidRedirectURI

        // MARK: Authorization
        /// Another authorization has begun and has not ended.
        case authorizationInProgress
        /// There is none that could go on: none has begun, or it has its response already.
        case noAuthorizationPending
        /// The response came after the configuration's `timeout`.
        case authorizationExpired
        /// The person gave up.
        case authorizationCancelled
        /// The user interface failed; what it said is not kept.
        case presenterFailed
        /// The tokens are for another account than the one that signs in.
        case subjectMismatch
        /// The server granted no `atproto` scope.
        case scopeMissing
        /// The session's key is missing or another one.
        case keyLost
        /// The request goes to another server than the account's own.
        case otherServer

        // MARK: From below
        /// A server responded with this status.
        case refused(statusCode: Int)
        /// A server gave no whole response.
        case network(TransportError)
        /// Any other error of the sign-in, the session or its store.
        case signIn(SignInError)
        /// The task was cancelled.
        case cancelled
    }

    /// The problem of a DID document.
    public enum DocumentProblem: Sendable, Hashable, CaseIterable {
        /// It isn't a valid JSON object.
        case notJSON
        /// The document has more than ``DIDDocument/maximumByteCount`` bytes, or is nested too deeply.
        case tooLarge
        /// Its `id` is another DID.
        case notThisDID
        /// A list in it is malformed, or too long.
        case malformedList
        /// The document lacks a service `#atproto_pds`.
        case withoutPersonalServer
        /// The document has several services `#atproto_pds`.
        case repeatedPersonalServer
        /// The account's server isn't an origin.
        case malformedPersonalServer
    }

    /// The problem of a protected resource's metadata (RFC 9728).
    public enum ResourceProblem: Sendable, Hashable, CaseIterable {
        /// There is none at the well-known address.
        case notFound
        /// The well-known address redirects, which is not followed.
        case redirected
        /// It isn't a valid JSON object.
        case notJSON
        /// Its `resource` is another server.
        case otherResource
        /// The metadata lacks an authorization server.
        case withoutAuthorizationServer
        /// It names several authorization servers.
        case severalAuthorizationServers
        /// The authorization server in the metadata isn't an origin.
        case malformedAuthorizationServer
    }

    /// A requirement of AT Protocol's profile for an authorization server.
    public enum Requirement: Sendable, Hashable, CaseIterable {
        /// An endpoint for pushed requests (RFC 9126).
        case pushedRequests
        /// `require_pushed_authorization_requests` (RFC 9126 section 5).
        case pushedRequestsRequired
        /// DPoP proofs with ES256 (RFC 9449).
        case es256Proofs
        /// The scope `atproto`.
        case atprotoScope
        /// `client_id_metadata_document_supported`: clients are known by documents.
        case clientDocuments
        /// `authorization_response_iss_parameter_supported` (RFC 9207).
        case issuerInResponses
        /// PKCE with S256 (RFC 7636).
        case s256Challenge
        /// Refresh tokens.
        case refreshGrant
        /// The authorization code flow.
        case codeGrant
        /// Clients without a secret or a key.
        case publicClients
    }

    /// The problem of a client's metadata document.
    public enum ClientProblem: Sendable, Hashable, CaseIterable {
        /// The client's address isn't a public HTTPS address with a path.
        case malformedAddress
        /// There is none at its address.
        case notFound
        /// It isn't a valid JSON object.
        case notJSON
        /// Its `client_id` is another address.
        case otherClient
        /// `redirect_uris` is missing.
        case withoutRedirects
        /// `grant_types` lacks `authorization_code` or `refresh_token`.
        case withoutCodeGrant
        /// `response_types` lacks `code`.
        case withoutCodeResponse
        /// `dpop_bound_access_tokens` is not true.
        case withoutBoundTokens
        /// The client authenticates with a private key, which isn't supported.
        case notPublic
        /// A requested scope is not in its `scope`.
        case scopeNotRegistered
        /// The scope `atproto` is not requested.
        case withoutATProtoScope
        /// A web client with the redirect address of a native client.
        case nativeRedirectOfWebClient
    }

    /// The code for a program's decisions; cause and hint are for people.
    public let code: Code

    /// For an ``IdentityResolver`` of the caller's own to throw.
    public init(_ code: Code) {
        self.code = code
    }

    static func document(_ problem: DocumentProblem) -> ATProtocolError { ATProtocolError(.invalidDocument(problem)) }
    static func client(_ problem: ClientProblem) -> ATProtocolError { ATProtocolError(.invalidClientMetadata(problem)) }
    static let cancelled = ATProtocolError(.cancelled)

    static func network(_ error: TransportError) -> ATProtocolError {
        switch error.code {
        case .cancelled: .cancelled
        case .addressRefused: ATProtocolError(.addressRefused)
        default: ATProtocolError(.network(error))
        }
    }

    /// Errors with their own name here lose the other name.
    static func signIn(_ error: SignInError) -> ATProtocolError {
        switch error.code {
        case .cancelled: .cancelled
        case .keyLost: ATProtocolError(.keyLost)
        case .accountMismatch: ATProtocolError(.subjectMismatch)
        case .scopeMissing: ATProtocolError(.scopeMissing)
        case .otherResource: ATProtocolError(.otherServer)
        case .userAgent(let cause) where cause.code == .userCancelled: ATProtocolError(.authorizationCancelled)
        default: ATProtocolError(.signIn(error))
        }
    }

    static func oauth(_ error: OAuthError) -> ATProtocolError { .signIn(SignInError.oauth(error)) }
}

// MARK: - Telling

extension ATProtocolError {
    public var explanation: Explanation {
        switch code {
        case .invalidHandle:
            .init(
                .usage, "atproto.invalid-handle", "the handle is not valid",
                hint: "use the whole name without an @, such as alice.example.org")
        case .invalidDID:
            .init(
                .usage, "atproto.invalid-did", "the DID is not valid, or not of the methods plc and web",
                hint: "use a DID such as did:plc:… or did:web:…")
        case .handleNotFound:
            .init(
                .notFound, "atproto.handle-not-found", "the handle does not lead to an account",
                hint: "check the handle's spelling, or use the account's DID")
        case .handleAmbiguous:
            .init(
                .protocolError, "atproto.handle-ambiguous", "the handle leads to several accounts",
                hint: Self.ownerHint)
        case .handleMismatch:
            .init(
                .protocolError, "atproto.handle-mismatch", "the handle leads to an account that has another handle",
                hint: Self.ownerHint)
        case .didNotFound: .init(.notFound, "atproto.did-not-found", "the DID does not exist")
        case .invalidDocument(let problem):
            .init(.protocolError, "atproto.invalid-document", "the account's document can't be used: \(problem)")
        case .addressRefused:
            .init(
                .refused, "atproto.address-refused",
                "the account leads to an address that is not a public address with HTTPS")
        case .invalidResourceMetadata(let problem):
            .init(
                .protocolError, "atproto.invalid-resource-metadata", "the account's server can't be used: \(problem)")
        case .requirementMissing(let requirement):
            .init(
                .protocolError, "atproto.requirement-missing",
                "the authorization server does not follow the profile: \(requirement)")
        case .invalidClientMetadata(let problem):
            .init(
                .configuration, "atproto.invalid-client-metadata", "the client's metadata can't be used: \(problem)")
        case .invalidRedirectURI:
            .init(
                .configuration, "atproto.invalid_redirect_uri",
                "the redirect address is not one of this client's redirect addresses",
                hint: "use an address from the metadata's redirect_uris, or change the metadata")
        case .authorizationInProgress:
            .init(
                .tryAgain, "atproto.authorization_in_progress", "another sign-in has begun and has not ended",
                hint: "end the other sign-in, or cancel it")
        case .noAuthorizationPending:
            .init(
                .notFound, "atproto.no-authorization-pending", "no sign-in waits for this response",
                hint: "start the sign-in again")
        case .authorizationExpired:
            .init(
                .tryAgain, "atproto.authorization-expired", "the response came too late",
                hint: "start the sign-in again")
        case .authorizationCancelled:
            .init(.refused, "atproto.authorization-cancelled", "the sign-in was cancelled")
        case .presenterFailed: .init(.unavailable, "atproto.presenter-failed", "the sign-in page could not be shown")
        case .subjectMismatch:
            .init(
                .protocolError, "atproto.subject-mismatch",
                "the server's tokens are for a different account than the one that signs in")
        case .scopeMissing:
            .init(.protocolError, "atproto.scope-missing", "the server did not grant the scope atproto")
        case .keyLost:
            .init(
                .refused, "atproto.key-lost", "the key that the session is bound to is missing or different",
                hint: "sign in again")
        case .otherServer:
            .init(
                .usage, "atproto.other-server", "the request goes to a different server than the account's own",
                hint: "send the request to the account's own server, which forwards requests for others")
        case .refused(let status):
            .init(
                status == 429 ? .tryAgain : status >= 500 ? .unavailable : .protocolError, "atproto.refused",
                "the server did not respond as it should (status \(status))",
                hint: status >= 500 || status == 429 ? "try again later" : nil)
        case .network(let error): error.explanation
        case .signIn(let error): error.explanation
        case .cancelled: .init(.interrupted, "atproto.cancelled", "the operation was interrupted")
        }
    }

    private static let ownerHint: LogMessage = "the account's owner has to fix it; until then, use the account's DID"
}

extension ATProtocolError.DocumentProblem: Loggable {
    // Safe: words of ours.
    public var logMessage: LogMessage {
        switch self {
        case .notJSON: "it is not a valid JSON object"
        case .tooLarge: "it is too large"
        case .notThisDID: "it is another account's"
        case .malformedList: "a list in it is malformed, or too long"
        case .withoutPersonalServer: "it doesn't name a server for the account"
        case .repeatedPersonalServer: "it names several servers for the account"
        case .malformedPersonalServer: "the account's server is not an origin"
        }
    }
}

extension ATProtocolError.ResourceProblem: Loggable {
    // Safe: words of ours.
    public var logMessage: LogMessage {
        switch self {
        case .notFound: "its metadata doesn't name an authorization server"
        case .redirected: "its metadata redirects, and Latchkey doesn't follow that redirect"
        case .notJSON: "its metadata is not a valid JSON object"
        case .otherResource: "its metadata is about another server"
        case .withoutAuthorizationServer: "its metadata lacks an authorization server"
        case .severalAuthorizationServers: "it names several authorization servers"
        case .malformedAuthorizationServer: "its authorization server is not an origin"
        }
    }
}

extension ATProtocolError.Requirement: Loggable {
    // Safe: words of ours.
    public var logMessage: LogMessage {
        switch self {
        case .pushedRequests: "it lacks an endpoint for pushed requests"
        case .pushedRequestsRequired: "it does not require pushed requests"
        case .es256Proofs: "it does not take DPoP proofs with ES256"
        case .atprotoScope: "it does not know the scope atproto"
        case .clientDocuments: "it does not read client metadata documents"
        case .issuerInResponses: "it does not name itself in its responses"
        case .s256Challenge: "it does not take PKCE with S256"
        case .refreshGrant: "it does not refresh sessions"
        case .codeGrant: "it lacks the authorization code flow"
        case .publicClients: "it does not take public clients"
        }
    }
}

extension ATProtocolError.ClientProblem: Loggable {
    // Safe: words of ours.
    public var logMessage: LogMessage {
        switch self {
        case .malformedAddress: "its address is not a public one with HTTPS and a path"
        case .notFound: "it is not at its address"
        case .notJSON: "it is not a valid JSON object"
        case .otherClient: "it is another client's"
        case .withoutRedirects: "it lists no redirect URI"
        case .withoutCodeGrant: "its grant types lack authorization_code or refresh_token"
        case .withoutCodeResponse: "its response types lack code"
        case .withoutBoundTokens: "it does not request tokens that are bound to a key"
        case .notPublic: "it is not a public client, and private keys of clients are not supported"
        case .scopeNotRegistered: "a requested scope is not in it"
        case .withoutATProtoScope: "the scope atproto is not requested"
        case .nativeRedirectOfWebClient: "it is a web client, but the redirect URI belongs to a native client"
        }
    }
}
