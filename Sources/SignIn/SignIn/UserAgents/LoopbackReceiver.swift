internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyLoopback
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

/// Listens on a loopback address for the response of one sign-in (RFC 8252 section 7.3).
///
/// It accepts only this user's connections. `finish` or deinitialisation closes it.
final class LoopbackReceiver: Sendable {
    let redirect: RedirectURI
    /// The link for the browser. It leads to the authorization page once, and contains no secret of the sign-in.
    let startLink: String
    let handler: RedirectHandler
    private let server: LoopbackServer

    /// How long a browser may take to fetch the last page once it has requested it.
    private static let fetchingTime = Duration.seconds(5)

    private init(redirect: RedirectURI, startLink: String, handler: RedirectHandler, server: LoopbackServer) {
        self.redirect = redirect
        self.startLink = startLink
        self.handler = handler
        self.server = server
    }

    /// Starts listening at the redirect's port, or at any when it leaves that open.
    static func listen(at redirect: RedirectURI, log: RedactedLogger) throws(UserAgentError) -> LoopbackReceiver {
        guard redirect.kind == .loopback, let address = redirect.loopbackAddress else {
            throw .unavailable(.unsupportedRedirect)
        }
        // The server responds in separate tasks, which belong to the sign-in too.
        let handler = RedirectHandler(
            callbackPath: redirect.path, once: (start: try once(), done: try once()), log: log.keepingContext())
        let configuration = LoopbackServer.Configuration(
            family: address == .ipv4 ? .ipv4 : .ipv6, port: redirect.port ?? 0, methods: [.get, .head],
            peers: .sameUser, maximumBodyByteCount: 1024, maximumConnectionCount: 32)
        let server = try mapError(
            { (error: LoopbackError) in
                UserAgentError.unavailable(.cannotListen(UserAgentError.ListeningProblem(error: error)))
            }, of: LoopbackServer(configuration) { request in await handler.respond(to: request) })
        let here = redirect.withPort(server.port)
        log.debug("listening for the response on \(here)")
        return LoopbackReceiver(
            redirect: here, startLink: server.origin + handler.startPath, handler: handler, server: server)
    }

    deinit {
        // A page must not wait for the outcome for ever.
        handler.outcome.give(.failed(UserAgentError.cancelled))
        server.stop()
    }

    /// Waits for a response that the gate admits. Throws `.onlyForeignResponses` instead of `.timedOut` if there
    /// were other responses.
    ///
    /// - Parameter needsBrowser: whether only a browser with `startLink` can bring the response. Then it throws
    ///   `.pageNeverOpened` if the link was never requested.
    func response(
        until deadline: Deadline, needsBrowser: Bool = false
    ) async throws(UserAgentError) -> AuthorizationResponse {
        let event = await withTaskCancellationHandler {
            let alarm = Task { [handler] in
                try await Task.sleep(until: deadline.instant, clock: .continuous)
                let isUnopened = needsBrowser && handler.opened.present == nil
                handler.event.give(
                    .failed(handler.hasSeenForeign ? .onlyForeignResponses : isUnopened ? .pageNeverOpened : .timedOut))
            }
            defer { alarm.cancel() }
            return await handler.event.wait()
        } onCancel: {
            handler.event.give(.failed(.cancelled))
        }
        switch event {
        case .failed(let error): throw error
        case .received, .delivered:
            guard let response = handler.takeResponse() else { throw .cancelled }
            return response
        }
    }

    /// Shows the outcome to a browser that brought the response, and closes.
    ///
    /// - Parameter timeout: how long it may take to request the last page.
    func finish(_ outcome: SignInOutcome, timeout: Duration = .seconds(2)) async {
        let isFirst = handler.outcome.give(outcome)
        if isFirst, case .received = handler.event.present {
            if await handler.requestedEnd.wait(atMost: timeout) != nil {
                _ = await handler.shown.wait(atMost: Self.fetchingTime)
            }
        }
        server.stop()
    }

    private static func once() throws(UserAgentError) -> String {
        return try mappingError({ (error: RandomOctetsError) in
            UserAgentError.unavailable(.noRandomOctets(number: error.number))
        }) { () throws(RandomOctetsError) in
            let octets = try RandomOctets.array(16)
            return Base64URL.encode(octets.span)
        }
    }
}

/// A page that the person's browser shows at the end.
struct ResponsePage: Sendable {
    let status: Int
    let title: LogMessage
    let lines: [LogMessage]
    var ability = PlainPage.Ability.none

    static func outcome(_ outcome: SignInOutcome) -> ResponsePage {
        switch outcome {
        case .signedIn:
            ResponsePage(
                status: 200, title: "You are signed in",
                lines: ["You can close this page and go back to where you came from."], ability: .closing)
        case .failed(let cause, let hint):
            ResponsePage(
                status: 200, title: "You are not signed in",
                lines: [cause] + (hint.map { [$0] } ?? []) + ["You can close this page."])
        }
    }

    static let foreign = ResponsePage(
        status: 400, title: "This isn't the response",
        lines: [
            "This address does not belong to the current sign-in, so Latchkey ignored it.",
            "The sign-in is still waiting. Continue on the page that it opened, or start it again.",
        ])
    static let repeated = ResponsePage(
        status: 409, title: "Answered already",
        lines: ["This sign-in already has its response. You can close this page."])
    static let usedLink = ResponsePage(
        status: 410, title: "This link was used already",
        lines: ["The link works once. Start the sign-in again to get a new link."])
    static let notFound = ResponsePage(
        status: 404, title: "Nothing here",
        lines: ["No sign-in uses this address. You can close this page."])

    // MARK: - HTML

    func response() -> LoopbackResponse {
        LoopbackResponse(
            status: status, contentType: PlainPage.contentType, publicText: html, fields: PlainPage.fields(ability))
    }

    var html: String {
        let paragraphs = lines.map { "<p>\(PlainPage.escaped(Self.sentence($0.text)))</p>\n" }.joined()
        return PlainPage.opening(title: title.text, ability: ability) + paragraphs + PlainPage.closing
    }

    /// Makes a sentence of a cause or hint, which begins in lower case.
    private static func sentence(_ text: String) -> String {
        let capitalized = text.prefix(1).uppercased() + text.dropFirst()
        return capitalized.hasSuffix(".") ? capitalized : capitalized + "."
    }
}
