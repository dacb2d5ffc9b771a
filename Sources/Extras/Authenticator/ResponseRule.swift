internal import LatchkeyHTTP
public import LatchkeyOAuth

extension OAuthAuthenticator {
    /// Says what a response to a request with the token means for the login.
    public struct ResponseRule: Sendable {
        /// What is done with a response.
        public enum Action: Sendable, Hashable, CaseIterable {
            /// It is returned.
            case accept
            /// The token is refreshed, and the request sent once more.
            case refresh
            /// The person signs in again, where the authenticator may ask, and the request is sent once more.
            case authorize
            /// The token is refreshed; when that is refused or there is nothing to refresh it with, the person signs in
            /// again, where the authenticator may ask. Then the request is sent once more.
            case refreshOrAuthorize
        }

        /// What it is told of a response. The body and all other fields stay away.
        public struct Response: Sendable, Hashable {
            /// The response's status (RFC 9110 section 15).
            public let status: Int
            /// The `error` of the response's challenge (RFC 6750 section 3.1, RFC 9449 section 7.1), if it is a known
            /// one.
            public let challengeError: ServerErrorCode?

            /// A 401 that isn't about the proof of a key (RFC 9449): refreshing the token would mend nothing there.
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
