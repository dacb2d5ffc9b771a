internal import LatchkeyLog
internal import LatchkeyLoopback
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import Synchronization

/// What a loopback receiver says to each request: it leads the browser to the authorization page once, takes the first
/// answer that belongs to the attempt, and shows the outcome.
final class RedirectHandler: Sendable {
    let startPath: String
    private let callbackPath: String
    private let donePath: String
    private let log: RedactedLogger

    private struct Papers: ~Copyable, Sendable {
        var url: AuthorizationURL?
        var gate: AnswerGate?
        var answer: RedirectAnswer?
        var hasSeenForeign = false
    }

    private let papers = Mutex(Papers())

    /// What ends the wait for an answer.
    enum Event: Sendable {
        /// The answer is at the handler, and the browser that brought it waits for the outcome.
        case answered
        /// The answer is at the handler, and came by another way.
        case delivered
        case failed(UserAgentError)
    }

    /// How the wait ended.
    let event = FirstValue<Event>()
    /// Given when a browser has asked for the start.
    let opened = FirstValue<Bool>()
    /// What the last page says; the page waits for it.
    let outcome = FirstValue<SignInOutcome>()
    /// Given when a browser asks for the last page.
    let askedForEnd = FirstValue<Bool>()
    /// Given when the last page has left, or can't any more.
    let shown = FirstValue<Bool>()

    /// - Parameter once: a fresh text that can't be guessed, for the paths that work once.
    init(callbackPath: String, once: (start: String, done: String), log: RedactedLogger) {
        startPath = "/go/" + once.start
        donePath = "/done/" + once.done
        self.callbackPath = callbackPath
        self.log = log
    }

    /// Opens the handler.
    func expect(_ url: consuming AuthorizationURL, gate: AnswerGate) {
        var url: AuthorizationURL? = consume url
        papers.withLock { papers in
            papers.url = url.take()
            papers.gate = gate
        }
    }

    /// Takes an answer that came by another way and was admitted there.
    func deliver(_ answer: consuming RedirectAnswer) {
        var answer: RedirectAnswer? = consume answer
        papers.withLock { papers in
            if let answer = answer.take() { papers.answer = consume answer }
        }
        event.give(.delivered)
    }

    /// Hands the answer out, once.
    func takeAnswer() -> RedirectAnswer? { papers.withLock { $0.answer.take() } }

    /// Whether an answer with another state came.
    var hasSeenForeign: Bool { papers.withLock { $0.hasSeenForeign } }

    // MARK: - Requests

    func respond(to request: consuming LoopbackRequest) async -> LoopbackResponse {
        let path = request.path
        // Another authority's response comes to another path, and is not ours (RFC 9700 section 4.4.2.2).
        if path.hasSameOctets(as: callbackPath) { return take(request) }
        if path.hasSameOctets(as: startPath) { return start(isQuestionOnly: request.method == .head) }
        if path.hasSameOctets(as: donePath) { return await done() }
        // Browsers ask for /favicon.ico by themselves; whatever else comes is somebody else's.
        log.trace("the loopback receiver was asked for something else")
        return AnswerPage.notFound.response()
    }

    private func start(isQuestionOnly: Bool) -> LoopbackResponse {
        // Desktops ask with HEAD what kind of page it is before they start the browser.
        if isQuestionOnly { return LoopbackResponse(status: 200, contentType: "text/html", publicText: "") }
        guard let url = papers.withLock({ $0.url.take() }) else { return AnswerPage.usedLink.response() }
        var sink = RedirectLocationSink()
        do throws(SecretBuilder.LimitExceeded) {
            try url.pour(into: &sink)
        } catch {
            event.give(.failed(.unavailable(.pageFailed)))
            return AnswerPage.notFound.response()
        }
        opened.give(true)
        log.debug("the browser asked for the sign-in page; it is led to \(url.publicPart)")
        return LoopbackResponse(
            status: 302, fields: [LoopbackField("Referrer-Policy", "no-referrer")], location: sink.finish())
    }

    private func take(_ request: consuming LoopbackRequest) -> LoopbackResponse {
        guard request.method == .get, let answer = Self.answer(in: request) else {
            log.info("a request at the redirect address was no answer; it is ignored")
            return AnswerPage.foreign.response()
        }
        let admission = admit(answer)
        switch admission {
        case .admitted:
            log.debug("the answer came to the redirect address")
            event.give(.answered)
            // Once more elsewhere, so that the code leaves the address bar and the list of visited pages.
            return .redirect(status: 303, publicLocation: donePath)
        case .foreign:
            log.info("an answer with another state came to the redirect address; it is ignored")
            return AnswerPage.foreign.response()
        case .repeated:
            log.info("another answer came to the redirect address; it is ignored")
            return AnswerPage.repeated.response()
        }
    }

    private func admit(_ answer: consuming RedirectAnswer) -> AnswerGate.Admission {
        var answer: RedirectAnswer? = consume answer
        return papers.withLock { papers in
            guard let gate = papers.gate, let candidate = answer.take() else { return .foreign }
            let admission = gate.admit(candidate)
            if admission == .admitted { papers.answer = consume candidate }
            if admission == .foreign { papers.hasSeenForeign = true }
            return admission
        }
    }

    private static func answer(in request: borrowing LoopbackRequest) -> RedirectAnswer? {
        switch request.query {
        case .some(let query):
            try? query.withExposedBytes { (bytes) throws(OAuthError) in try RedirectAnswer(query: bytes) }
        case .none: nil
        }
    }

    private func done() async -> LoopbackResponse {
        askedForEnd.give(true)
        let outcome = await outcome.wait()
        var response = AnswerPage.outcome(outcome).response()
        response.whenEnded = { [shown] in shown.give(true) }
        return response
    }
}
