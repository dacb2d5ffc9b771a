package import LatchkeyCredentials
public import LatchkeyLog
package import LatchkeyOAuth

/// Shows a person the authorization page and brings the response back: a browser with a loopback listener, a paste, or
/// whatever an adopter has.
///
/// An agent works in two steps, because the request must name the address that the response comes to, and a listener
/// knows its port only once it listens:
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

    /// Sends the person to the authorization page and returns the first response that the gate admits. Once.
    ///
    /// Responses that the gate doesn't admit, whoever sent them, change nothing. Throws `.userCancelled`, `.timedOut`
    /// at the deadline, `.cancelled` when the task is cancelled, `.unavailable` when there is nothing to show the page
    /// with.
    func present(
        _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
    ) async throws(UserAgentError) -> AuthorizationResponse

    /// Tells the person how it ended, and closes whatever was open. More than once has no effect.
    func finish(_ outcome: SignInOutcome) async
}

/// How a sign-in ended, for the page or the terminal that the person looks at.
public enum SignInOutcome: Sendable {
    /// The session is stored.
    case signedIn
    /// A sentence for the person, and what to do next.
    case failed(cause: LogMessage, hint: LogMessage?)

    package static func failed(_ error: some RedactedError) -> SignInOutcome {
        .failed(cause: error.cause, hint: error.hint)
    }
}
