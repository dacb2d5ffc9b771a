public import LatchkeyLog
public import LatchkeySignIn

extension OAuthAuthenticator {
    /// The failure of a sign-in or a request of an `OAuthAuthenticator`, free of secrets and of other programs' text.
    public struct Failure: RedactedError, Hashable {
        /// The failure. An inner error keeps its code, cause and hint.
        public enum Code: Sendable, Hashable {
            /// A person has to sign in, but this authenticator doesn't start a sign-in by itself.
            case loginRequired
            /// A person has to sign in, but the configuration lacks a user authenticator.
            case noUserAuthenticator
            /// The request goes to an origin that the configuration doesn't name; nothing was sent.
            case otherOrigin
            /// The request is unsupported, and wasn't sent.
            case unsupportedRequest(RequestProblem)
            /// A file that is sent or received can't be used; the number is the errno.
            case fileFailed(number: Int32)
            /// The sign-in, the session or its store failed.
            case signIn(SignInError)
            /// The task was cancelled.
            case cancelled
        }

        /// A feature of a request that isn't supported.
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

            // Safe: words of ours.
            var logMessage: LogMessage {
                switch self {
                case .address: "the request's address is not an http or https URL without a fragment"
                case .method: "the request's method is not supported"
                case .field: "the request has a malformed field, or a field that the caller must not set"
                case .body: "the request's body is a stream, or the request has two bodies"
                case .file: "only a URLSession can send and receive files"
                }
            }
        }

        /// The code for a program's decisions; cause and hint are for people.
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

        public var explanation: Explanation {
            switch code {
            case .loginRequired:
                .init(
                    .refused, "authenticator.login-required",
                    "no account is signed in, and this authenticator asks only if the program tells it to",
                    hint: "call authenticate() when the user is ready")
            case .noUserAuthenticator:
                .init(
                    .configuration, "authenticator.no-user-authenticator",
                    "no account is signed in, and the configuration lacks a way to ask the user",
                    hint: "add a user authenticator to the configuration")
            case .otherOrigin:
                .init(
                    .refused, "authenticator.other-origin", "the request goes to an origin that must not get the token",
                    hint: "add the origin to the configuration's origins, if its server may get the token")
            case .unsupportedRequest(let problem):
                .init(
                    .usage, "authenticator.unsupported-request", problem.logMessage,
                    hint: problem == .body ? "pass the data, or upload a file" : nil)
            case .fileFailed(let number):
                .init(
                    .cannotWrite, "authenticator.file-failed",
                    "can't read or write the file: \(SystemErrorNumber(number))")
            case .signIn(let error): error.explanation
            case .cancelled: .init(.interrupted, "authenticator.cancelled", "the operation was interrupted")
            }
        }
    }
}
