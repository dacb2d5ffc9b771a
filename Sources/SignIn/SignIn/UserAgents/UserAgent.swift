package import LatchkeyLog
public import LatchkeyProcess

/// A method to sign in (RFC 6749's user agent): how the user sees the authorization page, and how its response returns.
public struct UserAgent: Sendable {
    /// Opens a link in a browser, and returns at once or when the user has left the page. The link is a loopback
    /// address that works once and leads to the page, so it contains no `state`.
    ///
    /// An error ends the sign-in.
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

    /// The methods that fit the program's session: a browser if a display is available; otherwise, as over SSH, a device
    /// code (RFC 8628) at the process's own terminal, or a paste there if the server doesn't support codes. At a service
    /// that wants the client's secret from a browser's client, such as GitHub, a client without one uses a code.
    ///
    /// Throws `.userAgent(.unavailable)` at the sign-in if there is neither; the hint says what to do.
    public static func automatic(in environment: ProgramEnvironment) -> UserAgent {
        let prompt = SecretPrompt(isAllowed: true)
        guard prompt.isPossible else { return automatic(in: environment, terminal: nil) }
        return automatic(
            in: environment, terminal: PersonsTerminal(prompt: prompt),
            devicePrompt: TerminalDevicePrompt(prompt: prompt))
    }

    /// The same with the caller's terminal and device prompt, which need not both be there.
    ///
    /// Throws `.userAgent(.unavailable)` at the sign-in if no method is left; the hint says what to do.
    ///
    /// - Parameters:
    ///   - environment: shows whether a display and a browser are available.
    ///   - terminal: the terminal for questions; `nil` asks none.
    ///   - devicePrompt: shows a device code; `nil` shows none.
    public static func automatic(
        in environment: ProgramEnvironment, terminal: (any PromptTerminal)? = nil,
        devicePrompt: (any DevicePrompt)? = nil
    ) -> UserAgent {
        UserAgent(SignInMethods(environment: environment, terminal: terminal, devicePrompt: devicePrompt))
    }

    /// The user's browser, and a listener at the loopback redirect address (RFC 8252 section 7.3).
    public static func browser(in environment: ProgramEnvironment) -> UserAgent {
        var methods = SignInMethods(environment: environment)
        methods.wanted = .browser
        return UserAgent(methods)
    }

    /// The same with a browser that the caller starts.
    public static func browser(opening opener: @escaping Opener) -> UserAgent {
        UserAgent(.redirect { BrowserUserAgent(.opener(opener), log: $0) })
    }

    /// The terminal shows the address, and takes the one that the browser ends at.
    public static func paste(at terminal: any PromptTerminal) -> UserAgent {
        UserAgent(.redirect { PasteUserAgent(terminal: terminal, log: $0) })
    }

    /// A code that the person enters on another device (RFC 8628). The sign-in throws `.oauth` with
    /// `.invalidMetadata(.withoutDeviceGrant)` if the server doesn't support codes.
    public static func device(_ prompt: any DevicePrompt) -> UserAgent { UserAgent(.device(prompt)) }

    /// The caller's own user interface. The redirect address needs a fixed port or a private-use scheme; the sign-in
    /// throws `.userAgent` with `.unavailable(.unsupportedRedirect)` for a loopback address with an open port.
    public static func presenter(_ presenter: any AuthorizationPresenter) -> UserAgent {
        UserAgent(.presenter(presenter))
    }

    /// None: each sign-in throws `.userAgent(.unavailable)`.
    public static let unavailable = UserAgent(.unavailable)
}
