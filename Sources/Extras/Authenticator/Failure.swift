internal import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeySignIn

extension OAuthAuthenticator {
    /// Why a sign-in or a request of an `OAuthAuthenticator` did not come about. It holds no secret and no one else's
    /// prose.
    public struct Failure: RedactedError, Hashable {
        /// What went wrong. An error inside keeps its own `codeName`, cause and hint.
        public enum Code: Sendable, Hashable {
            /// A person has to sign in, and this authenticator asks nobody by itself.
            case loginRequired
            /// A person has to sign in, and no way to ask them was given.
            case noUserAuthenticator
            /// The request goes to an origin that the configuration doesn't name; nothing was sent.
            case otherOrigin
            /// The request can't be sent as it is; nothing was sent.
            case unsupportedRequest(RequestProblem)
            /// A file that is sent or received can't be used; the number is the errno.
            case fileFailed(number: Int32)
            /// The sign-in, the session or its store failed.
            case signIn(SignInError)
            /// The task was cancelled.
            case cancelled
        }

        /// What a request of another kind has that ours don't.
        public enum RequestProblem: Sendable, Hashable, CaseIterable {
            /// Another address than an `http` or `https` URL without a fragment.
            case address
            /// Another method than those of `GuardedRequest.Method`.
            case method
            /// A field that isn't the caller's to set, such as `Authorization` or `Cookie`.
            case field
            /// A body that can't be sent again: a stream, or one beside a file.
            case body
            /// A file, which another response provider than a URLSession can't send or receive.
            case file
        }

        /// What a program decides by; cause and hint are for people.
        public let code: Code

        /// A failure with this code.
        public init(_ code: Code) {
            self.code = code
        }

        /// `.signIn` with this error, or `.cancelled` where that is what it says.
        public static func signIn(_ error: SignInError) -> Failure {
            Failure(error.code == .cancelled ? .cancelled : .signIn(error))
        }

        /// The task was cancelled.
        public static let cancelled = Failure(.cancelled)

        public var codeName: StaticString {
            switch code {
            case .loginRequired: "authenticator.login-required"
            case .noUserAuthenticator: "authenticator.no-user-authenticator"
            case .otherOrigin: "authenticator.other-origin"
            case .unsupportedRequest: "authenticator.unsupported-request"
            case .fileFailed: "authenticator.file-failed"
            case .signIn(let error): error.codeName
            case .cancelled: "authenticator.cancelled"
            }
        }

        public var cause: LogMessage {
            switch code {
            case .loginRequired: "nobody is signed in, and nobody is asked without being told to"
            case .noUserAuthenticator: "nobody is signed in, and there is no way to ask anybody"
            case .otherOrigin: "the request goes to an origin that the token must not be sent to"
            case .unsupportedRequest(.address):
                "the request's address is no http or https URL that can be sent as it is"
            case .unsupportedRequest(.method): "the request's method is none that is sent here"
            case .unsupportedRequest(.field): "the request has a field that is not the caller's to set, or is malformed"
            case .unsupportedRequest(.body): "the request's body is a stream, or there are two"
            case .unsupportedRequest(.file): "a file can be sent and received over a URLSession alone"
            case .fileFailed(let number): "the file can't be read or written (errno \(number))"
            case .signIn(let error): error.cause
            case .cancelled: "it was interrupted"
            }
        }

        public var hint: LogMessage? {
            switch code {
            case .loginRequired: "call authenticate() when the person is ready"
            case .noUserAuthenticator: "give the configuration a user authenticator"
            case .otherOrigin: "name the origin in the configuration's origins, if its server is to have the token"
            case .unsupportedRequest(.body): "give the data, or upload a file"
            case .signIn(let error): error.hint
            case .unsupportedRequest, .fileFailed, .cancelled: nil
            }
        }
    }
}
