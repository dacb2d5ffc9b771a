internal import LatchkeyLog
internal import LatchkeyLoopback
internal import LatchkeyOAuth
internal import Synchronization

/// Responds to each request of a loopback receiver: it leads the browser to the authorization page once, accepts the
/// first response that belongs to the attempt, and shows the outcome.
final class RedirectHandler: Sendable {
    let startPath: String
    private let callbackPath: String
    private let donePath: String
    private let log: RedactedLogger

    private struct State: ~Copyable, Sendable {
        var url: AuthorizationURL?
        var gate: AuthorizationResponseGate?
        var response: AuthorizationResponse?
        var hasSeenForeign = false
        var isForeignTold = false
    }

    private let state = Mutex(State())

    /// The end of the wait for a response.
    enum Event: Sendable {
        /// The handler has the response, and the browser waits for the outcome.
        case received
        /// The response is at the handler, and came by another way.
        case delivered
        case failed(UserAgentError)
    }

    /// How the wait ended.
    let event = Pending<Event>()
    /// Given when a browser has requested the start.
    let opened = Pending<Bool>()
    /// The outcome on the last page, which waits for it.
    let outcome = Pending<SignInOutcome>()
    /// Given when a browser requests the last page.
    let requestedEnd = Pending<Bool>()
    /// Set once the last page was sent, or can no longer be sent.
    let shown = Pending<Bool>()

    /// - Parameter once: a fresh text that can't be guessed, for the paths that work once.
    init(callbackPath: String, once: (start: String, done: String), log: RedactedLogger) {
        startPath = "/go/" + once.start
        donePath = "/done/" + once.done
        self.callbackPath = callbackPath
        self.log = log
    }

    /// Opens the handler.
    func expect(_ url: consuming AuthorizationURL, gate: AuthorizationResponseGate) {
        var url: AuthorizationURL? = consume url
        state.withLock { state in
            state.url = url.take()
            state.gate = gate
        }
    }

    /// Takes a response that came by another way and was admitted there.
    func deliver(_ response: consuming AuthorizationResponse) {
        var response: AuthorizationResponse? = consume response
        state.withLock { state in
            if let response = response.take() { state.response = consume response }
        }
        event.complete(.delivered)
    }

    /// Hands the response out, once.
    func takeResponse() -> AuthorizationResponse? { state.withLock { $0.response.take() } }

    /// Whether a response with another state came.
    var hasSeenForeign: Bool { state.withLock { $0.hasSeenForeign } }

    // MARK: - Requests

    func respond(to request: consuming LoopbackRequest) async -> LoopbackResponse {
        let path = request.path
        // Another authority's response has another path and isn't ours (RFC 9700 section 4.4.2.2).
        if path.hasSameOctets(as: callbackPath) { return take(request) }
        if path.hasSameOctets(as: startPath) { return start(isHeadOnly: request.method == .head) }
        if path.hasSameOctets(as: donePath) { return await done() }
        // Browsers request /favicon.ico by themselves; whatever else comes belongs to another program.
        log.trace("the loopback receiver got a request for something else")
        return ResponsePage.notFound.response()
    }

    private func start(isHeadOnly: Bool) -> LoopbackResponse {
        // Desktops request with HEAD what kind of page it is before they start the browser.
        if isHeadOnly { return LoopbackResponse(status: 200, contentType: "text/html", publicText: "") }
        guard let url = state.withLock({ $0.url.take() }) else { return ResponsePage.usedLink.response() }
        var sink = RedirectLocationSink()
        if failure(SecretBuilder.LimitExceeded.self, of: try url.pour(into: &sink)) != nil {
            event.complete(.failed(.unavailable(.pageFailed)))
            return ResponsePage.notFound.response()
        }
        opened.complete(true)
        log.debug("the browser requested the sign-in page; redirecting it to \(url.publicPart)")
        return LoopbackResponse(
            status: 302, fields: [LoopbackField("Referrer-Policy", "no-referrer")], location: sink.finish())
    }

    private func take(_ request: consuming LoopbackRequest) -> LoopbackResponse {
        guard request.method == .get, let response = Self.response(in: request) else {
            tell("ignored a request at the redirect address that isn't a whole response; the sign-in still waits")
            return ResponsePage.foreign.response()
        }
        let admission = admit(response)
        switch admission {
        case .admitted:
            log.debug("the response came to the redirect address")
            event.complete(.received)
            // Once more elsewhere, so that the code leaves the address bar and the list of visited pages.
            return .redirect(status: 303, publicLocation: donePath)
        case .foreign:
            tell("ignored a response with another state; the sign-in still waits")
            return ResponsePage.foreign.response()
        case .repeated:
            log.info("ignored another response at the redirect address")
            return ResponsePage.repeated.response()
        }
    }

    /// Whoever sends these must not end the sign-in, and can't fill the log.
    private func tell(_ message: LogMessage) {
        let isTold = state.withLock { state in
            defer { state.isForeignTold = true }
            return state.isForeignTold
        }
        log.log(isTold ? .info : .warning, message)
    }

    private func admit(_ response: consuming AuthorizationResponse) -> AuthorizationResponseGate.Admission {
        var response: AuthorizationResponse? = consume response
        return state.withLock { state in
            guard let gate = state.gate, let candidate = response.take() else { return .foreign }
            let admission = gate.admit(candidate)
            if admission == .admitted { state.response = consume candidate }
            if admission == .foreign { state.hasSeenForeign = true }
            return admission
        }
    }

    private static func response(in request: borrowing LoopbackRequest) -> AuthorizationResponse? {
        switch request.query {
        case .some(let query):
            try? query.withExposedBytes { (bytes) throws(OAuthError) in try AuthorizationResponse(query: bytes) }
        case .none: nil
        }
    }

    private func done() async -> LoopbackResponse {
        requestedEnd.complete(true)
        let outcome = await outcome.value()
        var response = ResponsePage.outcome(outcome).response()
        response.whenEnded = { [shown] in shown.complete(true) }
        return response
    }
}
