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

    public var client: Client
    /// One of the document's; a loopback address may leave its port open.
    public var redirect: RedirectURI
    public var scopes: ScopeList
    /// The name under which sessions are kept.
    public var provider: ProviderName
    public var reach: NetworkReach
    /// How long the response of an authorization that has begun may take.
    public var timeout: Duration

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
