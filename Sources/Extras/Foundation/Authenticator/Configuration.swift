public import LatchkeyHTTP
public import LatchkeySecrets
public import LatchkeySignIn

extension OAuthAuthenticator {
    /// The settings of an `OAuthAuthenticator`: the service and client, the way to sign in, and the place of the login.
    ///
    /// The provider has the client ID, the scopes and the callback. `clientSecret` is separate.
    public struct Configuration: Sendable {
        /// Whether the authenticator may ask a person by itself.
        public enum Mode: Sendable, Hashable {
            /// A request that needs a sign-in starts it, only with the configured user authenticator.
            case automatic
            /// Only ``authenticate()`` asks; a request without a login throws `.loginRequired`.
            case manualOnly
        }

        /// The service, and which client of it we are.
        public var provider: OAuthProvider
        /// In place of the one in the store; sent only where the provider has a secret at all.
        package var clientSecret: GivenClientSecret?
        /// The name to keep the login under; `nil`: what the server calls the person.
        public var account: String?
        /// The place of the login (default: memory only).
        public var storage: Storage
        /// The handling of tokens (default: the safe one).
        public var tokens: TokenHandling
        /// Whether a request may start a sign-in by itself; `automatic` unless told otherwise.
        public var mode: Mode
        /// The way to sign in.
        public var userAuthenticator: UserAgent
        /// The time limit for the person, from the question on (default: ten minutes).
        public var timeout: Duration
        /// Is told how each sign-in ended, and awaited before any request goes on.
        public var statusHandler: (@Sendable (Status) async -> Void)?
        /// Sends the requests that carry the token; `nil`: what sends everything else, or a URLSession of
        /// `LatchkeyFoundation`'s own for a URLRequest.
        public var responses: (any HTTPTransport)?
        /// Where the token may be sent to.
        public var origins = Origins.ofProvider
        /// The transport to the authorization server, randomness, clock, leases and log.
        public var context: SignInContext

        /// Other properties keep their defaults: a sign-in may take ten minutes, and the token only goes to the
        /// provider's origins.
        public init(
            provider: OAuthProvider, userAuthenticator: UserAgent, storage: Storage = .untilDiscarded,
            tokens: TokenHandling = TokenHandling(), mode: Mode = .automatic, context: SignInContext
        ) {
            self.provider = provider
            self.userAuthenticator = userAuthenticator
            self.storage = storage
            self.tokens = tokens
            self.mode = mode
            self.context = context
            timeout = .seconds(600)
        }

        /// Uses this client secret in place of the one in the store.
        public mutating func useClientSecret(_ secret: consuming Secret<ClientSecret>) {
            clientSecret = GivenClientSecret(secret)
        }
    }
}

extension OAuthAuthenticator {
    /// The origins that a token may be sent to. A request to another is `Failure.otherOrigin`, and nothing is sent.
    public enum Origins: Sendable, Hashable {
        /// The provider's own origins: its issuer or endpoints, its account resource, and the server that the account's
        /// tokens are for.
        case ofProvider
        /// Only these, such as `https://api.example.org`.
        case these(Set<String>)
        /// Any address of a request: the author of the address gets the token.
        case whereverTheCallerAsks

        func permit(_ origin: String, of provider: OAuthProvider) -> Bool {
            switch self {
            case .ofProvider: provider.origins.contains(origin)
            case .these(let origins): origins.contains(origin)
            case .whereverTheCallerAsks: true
            }
        }
    }
}

extension OAuthAuthenticator {
    /// The outcome of a sign-in, without a token.
    public enum Status: Sendable, Hashable {
        /// A session was stored.
        case signedIn(SessionSummary)
        /// No new session was stored.
        case failed(Failure)
    }
}
