package import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeyOAuth
internal import Synchronization

/// Shows a person the authorization page and brings the response back: a browser with a loopback listener, a paste, or
/// an adopter's own way.
///
/// An agent works in two steps, because the request contains the address for the response, and a listener only knows
/// its port once it listens:
///
///     let attempt = try await agent.begin(client.redirect)
///     let pending = try AuthorizationRequest(server: server, client: client, redirect: attempt.redirect)
///         .begin(random: random)
///     let response = try await attempt.present(
///         pending.authorizationURL(), gate: pending.responseGate(), deadline: deadline)
///     await attempt.finish(.signedIn)
package protocol RedirectUserAgent: Sendable {
    /// Gets ready for one attempt, such as by listening on a port.
    ///
    /// - Parameter redirect: as registered with the server; a loopback address may leave the port open.
    func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt
}

/// One attempt of a `RedirectUserAgent`. It ends in `finish`, or when the last reference to it goes.
package protocol UserAgentAttempt: AnyObject, Sendable {
    /// Where the response comes to; what the authorization request must name.
    var redirect: RedirectURI { get }

    /// Sends the user to the authorization page and returns the first response that the gate admits. May be called
    /// once.
    ///
    /// Other responses are ignored. Throws `.userCancelled`, `.timedOut` at the deadline,
    /// `.cancelled` if the task is cancelled, and `.unavailable` if the page can't be shown.
    func present(
        _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
    ) async throws(UserAgentError) -> AuthorizationResponse

    /// Shows the outcome to the user, and closes open resources. Calling it again has no effect.
    func finish(_ outcome: SignInOutcome) async
}

/// How a sign-in ended, for the page or the terminal that the person looks at.
public enum SignInOutcome: Sendable {
    /// The session is stored.
    case signedIn
    /// A sentence for the user, and the next step.
    case failed(cause: LogMessage, hint: LogMessage?)

    package static func failed(_ error: some RedactedError) -> SignInOutcome {
        .failed(cause: error.cause, hint: error.hint)
    }
}

/// The sink that writes an authorization URL into the `Location` field of a redirect on a loopback address, so that its
/// `state` never appears on a command line.
package struct RedirectLocationSink: SecretSink, ~Copyable {
    package static var reason: StaticString {
        "the browser is led from a one-time link to the page that holds the state"
    }

    private var output = SecretBuilder(capacity: 1008, limit: 64 << 10)

    init() {}

    package mutating func receive(_ bytes: Span<UInt8>) throws(SecretBuilder.LimitExceeded) {
        try output.append(bytes)
    }

    consuming func finish() -> Secret<MessageBody> { output.finish(as: MessageBody.self) }
}

/// An adopter's own way to show the authorization page: a web view, a browser of its own.
public protocol AuthorizationPresenter: Sendable {
    /// Shows the page and returns the response that came to the redirect address, or `nil` if the user closed the page.
    ///
    /// `AuthorizationResponse(pasted:redirect:)` creates the response from the address, which it compares with the
    /// redirect's. The first response ends the sign-in, even if its state is another one (`.stateMismatch`).
    ///
    /// Errors that it throws become `.unavailable(.pageFailed)` (`.presenterFailed` in AT Protocol's client) without
    /// their text, unless they are a ``UserAgentError`` or a `CancellationError`.
    ///
    /// It runs in a task of its own, which is cancelled when the sign-in ends, such as at its deadline. Close the page then:
    /// the sign-in doesn't wait for that.
    ///
    /// - Parameters:
    ///   - url: the page's address, which is only readable through a named sink, because it may contain the state.
    ///   - callbackScheme: the scheme of the redirect address, such as `org.example.app`.
    func presentAuthorization(
        at url: consuming AuthorizationURL, callbackScheme: String
    ) async throws -> AuthorizationResponse?
}

/// Uses a presenter as a user agent.
struct PresentingUserAgent: RedirectUserAgent {
    let presenter: any AuthorizationPresenter

    func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        guard !redirect.needsPort else { throw .unavailable(.unsupportedRedirect) }
        return Attempt(redirect: redirect, presenter: presenter)
    }

    private final class Attempt: UserAgentAttempt {
        let redirect: RedirectURI
        private let presenter: any AuthorizationPresenter

        init(redirect: RedirectURI, presenter: any AuthorizationPresenter) {
            self.redirect = redirect
            self.presenter = presenter
        }

        func present(
            _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
        ) async throws(UserAgentError) -> AuthorizationResponse {
            // A presenter that doesn't notice the end of its task goes on alone.
            let (address, end) = (Box(url), Pending<Result<Box<Mutex<AuthorizationResponse?>>, UserAgentError>>())
            let showing = Task { [presenter, redirect] in
                do {
                    let response = try await presenter.presentAuthorization(
                        at: address.value.duplicate(), callbackScheme: redirect.scheme)
                    end.complete(.success(Box(Mutex(response))))
                } catch let error as UserAgentError {
                    end.complete(.failure(error))
                } catch is CancellationError {
                    end.complete(.failure(.cancelled))
                } catch {
                    end.complete(.failure(.unavailable(.pageFailed)))
                }
            }
            let alarm = Task {
                try await Task.sleep(until: deadline.instant, clock: .continuous)
                end.complete(.failure(.timedOut))
            }
            defer {
                alarm.cancel()
                showing.cancel()
            }
            guard let outcome = await end.valueUnlessCancelled() else { throw .cancelled }
            guard let response = try outcome.get().value.withLock({ $0.take() }) else { throw .userCancelled }
            guard gate.admit(response) == .admitted else { throw .onlyForeignResponses }
            return response
        }

        func finish(_ outcome: SignInOutcome) async {}
    }
}
