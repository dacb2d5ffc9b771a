public import LatchkeyHTTP
public import LatchkeyLog
internal import LatchkeyOAuth
public import LatchkeySignIn

/// Why an account on AT Protocol can't be found, signed in, used or signed out. It holds no secret and no one else's
/// prose.
public struct ATProtocolError: RedactedError, Hashable {
    /// What went wrong. An error inside keeps its own `codeName`, cause and hint.
    public enum Code: Sendable, Hashable {
        // MARK: Who it is
        /// The text is no handle; see ``ATProtocolHandle``.
        case invalidHandle
        /// The text is no DID, or one of a method other than `plc` and `web`; see ``DID``.
        case invalidDID
        /// Neither the DNS nor the host names a DID.
        case handleNotFound
        /// The DNS names several.
        case handleAmbiguous
        /// The handle leads to a DID whose document names another handle, or none.
        case handleMismatch
        /// The directory or the host has no document of this DID.
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
        /// The session's key is gone, or is another.
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

    /// What is wrong with a DID document.
    public enum DocumentProblem: Sendable, Hashable, CaseIterable {
        /// It is no valid JSON object.
        case notJSON
        /// It has more than ``DIDDocument/maximumByteCount`` bytes, or is nested too deep.
        case tooLarge
        /// Its `id` is another DID.
        case notThisDID
        /// A list in it is malformed, or too long.
        case malformedList
        /// It has no service `#atproto_pds`.
        case withoutPersonalServer
        /// It has several services `#atproto_pds`.
        case repeatedPersonalServer
        /// The account's server is no origin.
        case malformedPersonalServer
    }

    /// What is wrong with a protected resource's metadata (RFC 9728).
    public enum ResourceProblem: Sendable, Hashable, CaseIterable {
        /// There is none at the well-known address.
        case notFound
        /// The well-known address redirects, which is not followed.
        case redirected
        /// It is no valid JSON object.
        case notJSON
        /// Its `resource` is another server.
        case otherResource
        /// It names no authorization server.
        case withoutAuthorizationServer
        /// It names several authorization servers.
        case severalAuthorizationServers
        /// The authorization server that it names is no origin.
        case malformedAuthorizationServer
    }

    /// What AT Protocol's profile requires of an authorization server.
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

    /// What is wrong with a client's metadata document.
    public enum ClientProblem: Sendable, Hashable, CaseIterable {
        /// Its address is no public HTTPS address with a path.
        case malformedAddress
        /// There is none at its address.
        case notFound
        /// It is no valid JSON object.
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
        /// It is a client that proves itself with a private key, which isn't supported.
        case notPublic
        /// A requested scope is not in its `scope`.
        case scopeNotRegistered
        /// The scope `atproto` is not requested.
        case withoutATProtoScope
        /// It is a web client, and the redirect address is a native client's.
        case nativeRedirectOfWebClient
    }

    /// What a program decides by; cause and hint are for people.
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

    /// What has a name of its own here keeps none of the other.
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
    public var codeName: StaticString {
        switch code {
        case .invalidHandle: "atproto.invalid-handle"
        case .invalidDID: "atproto.invalid-did"
        case .handleNotFound: "atproto.handle-not-found"
        case .handleAmbiguous: "atproto.handle-ambiguous"
        case .handleMismatch: "atproto.handle-mismatch"
        case .didNotFound: "atproto.did-not-found"
        case .invalidDocument: "atproto.invalid-document"
        case .addressRefused: "atproto.address-refused"
        case .invalidResourceMetadata: "atproto.invalid-resource-metadata"
        case .requirementMissing: "atproto.requirement-missing"
        case .invalidClientMetadata: "atproto.invalid-client-metadata"
        case .invalidRedirectURI: "atproto.invalid_redirect_uri"
        case .authorizationInProgress: "atproto.authorization_in_progress"
        case .noAuthorizationPending: "atproto.no-authorization-pending"
        case .authorizationExpired: "atproto.authorization-expired"
        case .authorizationCancelled: "atproto.authorization-cancelled"
        case .presenterFailed: "atproto.presenter-failed"
        case .subjectMismatch: "atproto.subject-mismatch"
        case .scopeMissing: "atproto.scope-missing"
        case .keyLost: "atproto.key-lost"
        case .otherServer: "atproto.other-server"
        case .refused: "atproto.refused"
        case .network(let error): error.codeName
        case .signIn(let error): error.codeName
        case .cancelled: "atproto.cancelled"
        }
    }

    public var cause: LogMessage {
        switch code {
        case .invalidHandle: "that is no handle"
        case .invalidDID: "that is no DID of the methods plc and web"
        case .handleNotFound: "the handle leads to no account"
        case .handleAmbiguous: "the handle leads to several accounts"
        case .handleMismatch: "the handle leads to an account that has another handle"
        case .didNotFound: "there is no such DID"
        case .invalidDocument(let problem): "the account's document can't be used: \(problem)"
        case .addressRefused: "the account leads to an address that is not a public one with HTTPS"
        case .invalidResourceMetadata(let problem): "the account's server can't be used: \(problem)"
        case .requirementMissing(let requirement):
            "the authorization server does not follow the profile: \(requirement)"
        case .invalidClientMetadata(let problem): "the client's metadata can't be used: \(problem)"
        case .invalidRedirectURI: "the redirect address is none that this client has"
        case .authorizationInProgress: "another sign-in has begun and has not ended"
        case .noAuthorizationPending: "no sign-in waits for this response"
        case .authorizationExpired: "the response came too late"
        case .authorizationCancelled: "the sign-in was cancelled"
        case .presenterFailed: "the sign-in page could not be shown"
        case .subjectMismatch: "the server gave tokens for another account than the one that signs in"
        case .scopeMissing: "the server did not grant the scope atproto"
        case .keyLost: "the key that the session is bound to is gone, or is another"
        case .otherServer: "the request goes to another server than the account's own"
        case .refused(let status): "the server did not respond as it should (status \(status))"
        case .network(let error): error.cause
        case .signIn(let error): error.cause
        case .cancelled: "it was interrupted"
        }
    }

    public var hint: LogMessage? {
        switch code {
        case .invalidHandle: "give the whole name without an @, such as alice.example.org"
        case .invalidDID: "a DID looks like did:plc:… or did:web:…"
        case .handleNotFound: "check its spelling, or give the account's DID"
        case .handleAmbiguous, .handleMismatch: "the account's owner has to correct it; its DID works meanwhile"
        case .invalidRedirectURI: "use an address of the metadata's redirect_uris, or change those"
        case .authorizationInProgress: "end it, or cancel it"
        case .noAuthorizationPending, .authorizationExpired: "start the sign-in again"
        case .keyLost: "sign in again"
        case .otherServer: "send the request to the account's own server; it passes on what is for others"
        case .refused(let status): status >= 500 || status == 429 ? "try again later" : nil
        case .network(let error): error.hint
        case .signIn(let error): error.hint
        case .didNotFound, .invalidDocument, .addressRefused, .invalidResourceMetadata, .requirementMissing,
            .invalidClientMetadata, .authorizationCancelled, .presenterFailed, .subjectMismatch, .scopeMissing,
            .cancelled:
            nil
        }
    }
}

extension ATProtocolError.DocumentProblem: Loggable {
    // Safe: words of ours.
    public var logMessage: LogMessage {
        switch self {
        case .notJSON: "it is not a valid JSON object"
        case .tooLarge: "it is too large"
        case .notThisDID: "it is another account's"
        case .malformedList: "a list in it is malformed, or too long"
        case .withoutPersonalServer: "it names no server for the account"
        case .repeatedPersonalServer: "it names several servers for the account"
        case .malformedPersonalServer: "the account's server is no origin"
        }
    }
}

extension ATProtocolError.ResourceProblem: Loggable {
    // Safe: words of ours.
    public var logMessage: LogMessage {
        switch self {
        case .notFound: "it does not say which server authorizes"
        case .redirected: "what it says is elsewhere, which is not followed"
        case .notJSON: "what it says is not a valid JSON object"
        case .otherResource: "what it says is about another server"
        case .withoutAuthorizationServer: "it names no authorization server"
        case .severalAuthorizationServers: "it names several authorization servers"
        case .malformedAuthorizationServer: "the authorization server that it names is no origin"
        }
    }
}

extension ATProtocolError.Requirement: Loggable {
    // Safe: words of ours.
    public var logMessage: LogMessage {
        switch self {
        case .pushedRequests: "it has no endpoint for pushed requests"
        case .pushedRequestsRequired: "it does not require pushed requests"
        case .es256Proofs: "it does not take DPoP proofs with ES256"
        case .atprotoScope: "it does not know the scope atproto"
        case .clientDocuments: "it does not read client metadata documents"
        case .issuerInResponses: "it does not name itself in its responses"
        case .s256Challenge: "it does not take PKCE with S256"
        case .refreshGrant: "it does not refresh sessions"
        case .codeGrant: "it has no authorization code flow"
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
        case .withoutRedirects: "it has no redirect addresses"
        case .withoutCodeGrant: "its grant types lack authorization_code or refresh_token"
        case .withoutCodeResponse: "its response types lack code"
        case .withoutBoundTokens: "it does not request tokens that are bound to a key"
        case .notPublic: "it is no public client, and private keys of clients are not supported"
        case .scopeNotRegistered: "a requested scope is not in it"
        case .withoutATProtoScope: "the scope atproto is not requested"
        case .nativeRedirectOfWebClient: "it is a web client, and the redirect address is a native client's"
        }
    }
}
