public import LatchkeyHTTP
public import LatchkeyOAuth
public import LatchkeySignIn

/// Who we are on AT Protocol, and where responses go.
public struct ATProtocolConfiguration: Sendable {
    /// How authorization servers get to know the client.
    public enum Client: Sendable, Hashable {
        /// By its id alone: for command lines and for development.
        case loopback
        /// By the document at this address, which is its id; it is loaded and checked before each sign-in.
        case document(HTTPURL)
        /// By a document that was loaded before.
        case loaded(ClientDocument)
    }

    /// By its id alone unless told otherwise.
    public var client: Client
    /// One of the document's; a loopback address may leave its port open.
    public var redirect: RedirectURI
    /// What is requested; `atproto` must be among them.
    public var scopes: ScopeList
    /// The name under which sessions are kept.
    public var provider: ProviderName
    /// Which servers requests may go to.
    public var reach: NetworkReach
    /// How long the response of an authorization that has begun may take.
    public var timeout: Duration

    /// Everything but the redirect address has a default: that of a command line, which requests what Bluesky's own
    /// applications do.
    public init(
        client: Client = .loopback, redirect: RedirectURI,
        scopes: ScopeList = ["atproto", "transition:generic"], provider: ProviderName = .bluesky,
        reach: NetworkReach = .publicInternet, timeout: Duration = .seconds(600)
    ) {
        self.client = client
        self.redirect = redirect
        self.scopes = scopes
        self.provider = provider
        self.reach = reach
        self.timeout = timeout
    }
}
