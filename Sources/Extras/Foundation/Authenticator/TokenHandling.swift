internal import LatchkeyHTTP
public import LatchkeyOAuth
public import LatchkeySecrets
internal import LatchkeySignIn

extension OAuthAuthenticator {
    /// The steps that get and use tokens. Every step has a safe default. State, code verifier with S256 and the checks
    /// of a response belong to every sign-in and can't be replaced.
    public struct TokenHandling: Sendable {
        /// Makes the address that the person is sent to, for an attempt that is lent to it.
        ///
        /// The address is refused, as `.oauth(.invalidConfiguration(.authorizationURL))`, unless it leads to the
        /// server's authorization endpoint with our state and S256 challenge, each once, or with a `request_uri`; see
        /// `PendingAuthorization.authorizationURL(provided:)`.
        public typealias AuthorizationURLProvider =
            @Sendable (borrowing PendingAuthorization) async throws -> Secret<AuthorizationAddress>

        /// Exchanges the code for tokens. The closure gets a validated callback, never a raw response.
        ///
        /// The arguments are the token endpoint and the client's authentication, for `endpoint.exchange(callback, …)`,
        /// which is the built-in way.
        ///
        /// Errors other than `OAuthError` and `CancellationError` become `.stepFailed(.login)`.
        public typealias LoginProvider =
            @Sendable (consuming ValidatedCallback, TokenEndpoint, borrowing ClientAuthentication) async throws
            -> TokenResponse

        /// Refreshes the login: `endpoint.refresh(token, …)` is the built-in way. It throws `OAuthError(.sessionEnded)`
        /// for an invalid token, which deletes the login.
        public typealias RefreshProvider =
            @Sendable (borrowing Secret<RefreshToken>, TokenEndpoint, borrowing ClientAuthentication) async throws
            -> TokenResponse

        /// Pushes each authorization request (RFC 9126), and refuses a server without the endpoint. Otherwise requests
        /// are pushed as the provider says: by default where the server offers it.
        public var requiresPushedRequests = false
        /// Binds tokens to a key (RFC 9449), as for a provider that does so itself; a server that gives others is
        /// refused.
        public var bindsTokensToKey = false
        /// Makes the address that the person is sent to; `nil`: the built-in way.
        public var authorizationURLProvider: AuthorizationURLProvider?
        /// Exchanges the code; `nil`: the built-in way.
        public var loginProvider: LoginProvider?
        /// Refreshes the login; `nil`: the built-in way.
        public var refreshProvider: RefreshProvider?
        /// Decides what a response means for the login.
        public var responseStatusProvider = ResponseRule.refreshOrAuthorizeWhenUnauthorized

        /// The safe defaults: every step is the built-in one.
        public init() {}

        /// The provider with what is stricter here.
        func applied(to provider: OAuthProvider) -> OAuthProvider {
            var provider = provider
            if requiresPushedRequests, provider.pushes == .whenOffered { provider.pushes = .required }
            if bindsTokensToKey { provider.usesDPoP = true }
            return provider
        }

        func steps(clientSecret: GivenClientSecret?) -> SignInSteps {
            var steps = SignInSteps()
            steps.clientSecret = clientSecret
            if let provide = authorizationURLProvider {
                steps.address = { pending throws(SignInError) in
                    do {
                        return try await provide(pending)
                    } catch {
                        throw Self.told(error, .authorizationURL)
                    }
                }
            }
            if let provide = loginProvider {
                steps.exchange = { callback, endpoint, authentication throws(SignInError) in
                    do {
                        return try await provide(callback, endpoint, authentication)
                    } catch {
                        throw Self.told(error, .login)
                    }
                }
            }
            if let provide = refreshProvider {
                steps.refresh = { token, endpoint, authentication throws(SignInError) in
                    do {
                        return try await provide(token, endpoint, authentication)
                    } catch {
                        throw Self.told(error, .refresh)
                    }
                }
            }
            return steps
        }

        /// Returns our own errors unchanged, and others without their text.
        private static func told(_ error: any Error, _ step: SignInError.Step) -> SignInError {
            switch error {
            case let error as SignInError: error
            case let error as OAuthError: .oauth(error)
            case is CancellationError: .cancelled
            default: SignInError(.stepFailed(step))
            }
        }
    }
}

extension OAuthAuthenticator {
    /// Says what a response to a request with the token means for the login.
    public struct ResponseRule: Sendable {
        /// The reaction to a response.
        public enum Action: Sendable, Hashable, CaseIterable {
            /// Returns the response.
            case accept
            /// Refreshes the token, and sends the request once more.
            case refresh
            /// Signs the person in again, if the authenticator may ask, and sends the request once more.
            case authorize
            /// The token is refreshed; when that is refused or there is nothing to refresh it with, the person signs in
            /// again, where the authenticator may ask. Then the request is sent once more.
            case refreshOrAuthorize
        }

        /// The part of a response that decides. It lacks the body and all other fields.
        public struct Response: Sendable, Hashable {
            /// The response's status (RFC 9110 section 15).
            public let status: Int
            /// The `error` of the response's challenge (RFC 6750 section 3.1, RFC 9449 section 7.1), if it is a known
            /// one.
            public let challengeError: ServerErrorCode?

            /// Whether the status is 401 and the problem isn't the proof of a key (RFC 9449), which a refresh wouldn't
            /// fix.
            public var refusesToken: Bool {
                status == 401 && challengeError != .useDPoPNonce && challengeError != .invalidDPoPProof
            }
        }

        private let decide: @Sendable (Response) -> Action

        /// A rule of the caller's own.
        ///
        /// - Parameter decide: is called once for each request: the second response is returned whatever it is.
        public init(_ decide: @escaping @Sendable (Response) -> Action) {
            self.decide = decide
        }

        /// A 401 that is about the token: both.
        public static let refreshOrAuthorizeWhenUnauthorized = ResponseRule {
            $0.refusesToken ? .refreshOrAuthorize : .accept
        }

        func action(for response: borrowing GuardedResponse) -> Action {
            decide(Response(status: response.status, challengeError: ResourceClient.challengeError(in: response)))
        }
    }
}
