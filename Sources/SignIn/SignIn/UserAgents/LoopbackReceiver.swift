internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyLoopback
internal import LatchkeyOAuth

/// Listens on a loopback address for the response of one sign-in (RFC 8252 section 7.3).
///
/// It accepts only this user's connections. `finish` or deinitialisation closes it.
final class LoopbackReceiver: Sendable {
    let redirect: RedirectURI
    /// The link for the browser. It leads to the authorization page once, and contains no secret of the sign-in.
    let startLink: String
    let handler: RedirectHandler
    /// One, or one on each address.
    private let servers: [LoopbackServer]

    /// How long a browser may take to fetch the last page once it has requested it.
    private static let fetchingTime = Duration.seconds(5)

    private init(redirect: RedirectURI, startLink: String, handler: RedirectHandler, servers: [LoopbackServer]) {
        self.redirect = redirect
        self.startLink = startLink
        self.handler = handler
        self.servers = servers
    }

    /// Starts listening at the redirect's port, or at any when it leaves that open.
    static func listen(at redirect: RedirectURI, log: RedactedLogger) throws(UserAgentError) -> LoopbackReceiver {
        guard redirect.kind == .loopback, let address = redirect.loopbackAddress else {
            throw .unavailable(.unsupportedRedirect)
        }
        // The server responds in separate tasks, which belong to the sign-in too.
        let handler = RedirectHandler(
            callbackPath: redirect.path, once: (start: try once(), done: try once()), log: log.keepingContext())
        let servers = try mapError(
            { (error: LoopbackError) in
                UserAgentError.unavailable(.cannotListen(UserAgentError.ListeningProblem(error: error)))
            }, of: servers(on: address, port: redirect.port ?? 0, for: handler))
        let here = redirect.withPort(servers[0].port)
        log.debug("listening for the response on \(here)")
        return LoopbackReceiver(
            redirect: here, startLink: servers[0].origin + handler.startPath, handler: handler, servers: servers)
    }

    /// The limit of tries to find a port that is free on both addresses.
    private static let maximumTries = 20

    private static func servers(
        on address: RedirectURI.LoopbackAddress, port: UInt16, for handler: RedirectHandler
    ) throws(LoopbackError) -> [LoopbackServer] {
        func server(_ family: LoopbackServer.Family, _ port: UInt16) throws(LoopbackError) -> LoopbackServer {
            let configuration = LoopbackServer.Configuration(
                family: family, port: port, methods: [.get, .head], peers: .sameUser, maximumBodyByteCount: 1024,
                maximumConnectionCount: 32)
            return try LoopbackServer(configuration) { request in await handler.respond(to: request) }
        }
        switch address {
        case .ipv4: return [try server(.ipv4, port)]
        case .ipv6: return [try server(.ipv6, port)]
        case .localhost:
            var triesLeft = maximumTries
            while true {
                let first = try server(.ipv4, port)
                switch Result(catching: { () throws(LoopbackError) in try server(.ipv6, first.port) }) {
                case .success(let second): return [first, second]
                case .failure(let error):
                    // Without IPv6 no other program can be there.
                    if error.code == .noSuchAddress { return [first] }
                    first.stop()
                    triesLeft -= 1
                    guard port == 0, error.code == .portInUse, triesLeft > 0 else { throw error }
                }
            }
        }
    }

    deinit {
        // A page must not wait for the outcome indefinitely.
        handler.outcome.complete(.failed(UserAgentError.cancelled))
        for server in servers { server.stop() }
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
                handler.event.complete(
                    .failed(handler.hasSeenForeign ? .onlyForeignResponses : isUnopened ? .pageNeverOpened : .timedOut))
            }
            defer { alarm.cancel() }
            return await handler.event.value()
        } onCancel: {
            handler.event.complete(.failed(.cancelled))
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
        let isFirst = handler.outcome.complete(outcome)
        if isFirst, case .received = handler.event.present {
            if await handler.requestedEnd.value(within: timeout) != nil {
                _ = await handler.shown.value(within: Self.fetchingTime)
            }
        }
        for server in servers { server.stop() }
    }

    private static func once() throws(UserAgentError) -> String {
        return try mappingError({ (error: SystemErrorNumber) in
            UserAgentError.unavailable(.noRandomOctets(number: error.number))
        }) { () throws(SystemErrorNumber) in
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
