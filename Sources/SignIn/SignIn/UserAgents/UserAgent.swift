package import LatchkeyLog
public import LatchkeyProcess

/// What a person signs in with (RFC 6749's user agent): how the authorization page is shown, and how its response comes
/// back.
public struct UserAgent: Sendable {
    /// Opens a link in a browser, and returns at once or when the page was left; an error says why it can't be opened.
    ///
    /// What it throws ends the sign-in.
    public typealias Opener = @Sendable (_ link: String) async throws(UserAgentError) -> Void

    package enum Way: Sendable {
        case methods(SignInMethods)
        case redirect(@Sendable (RedactedLogger) -> any RedirectUserAgent)
        case presenter(any AuthorizationPresenter)
        case device(any DevicePrompt)
        case unavailable
    }

    package let way: Way

    package var isAvailable: Bool {
        if case .unavailable = way { false } else { true }
    }

    package var isPresenter: Bool {
        if case .presenter = way { true } else { false }
    }

    private init(_ way: Way) {
        self.way = way
    }

    package init(_ agent: any RedirectUserAgent) {
        self.init(.redirect { _ in agent })
    }

    package init(_ methods: SignInMethods) {
        self.init(.methods(methods))
    }

    /// What fits the session that the program runs in: a browser where there is a display; where the caller can ask, a
    /// paste at the terminal or a code for another device.
    ///
    /// Throws at the sign-in, as `.userAgent(.unavailable)`, when nothing is left; the hint says what to do.
    ///
    /// - Parameters:
    ///   - environment: says whether there is a display and a browser.
    ///   - terminal: where to ask; without it no question is asked.
    ///   - devicePrompt: shows a code for another device; without it none is shown.
    public static func automatic(
        in environment: ProgramEnvironment, terminal: (any PromptTerminal)? = nil,
        devicePrompt: (any DevicePrompt)? = nil
    ) -> UserAgent {
        UserAgent(SignInMethods(environment: environment, terminal: terminal, devicePrompt: devicePrompt))
    }

    /// The person's browser, and a listener at the loopback redirect address (RFC 8252 section 7.3).
    public static func browser(in environment: ProgramEnvironment) -> UserAgent {
        var methods = SignInMethods(environment: environment)
        methods.wanted = .browser
        return UserAgent(methods)
    }

    /// The same with a browser that the caller starts.
    public static func browser(opening opener: @escaping Opener) -> UserAgent {
        UserAgent(.redirect { BrowserUserAgent(opener: opener, log: $0) })
    }

    /// The terminal shows the address, and takes the one that the browser ends at.
    public static func paste(at terminal: any PromptTerminal) -> UserAgent {
        UserAgent(.redirect { PasteUserAgent(terminal: terminal, log: $0) })
    }

    /// A code that the person enters on another device (RFC 8628).
    public static func device(_ prompt: any DevicePrompt) -> UserAgent { UserAgent(.device(prompt)) }

    /// The caller's own user interface. The redirect address must not be a loopback one with an open port.
    public static func presenter(_ presenter: any AuthorizationPresenter) -> UserAgent {
        UserAgent(.presenter(presenter))
    }

    /// None: each sign-in throws `.userAgent(.unavailable)`.
    public static let unavailable = UserAgent(.unavailable)
}
