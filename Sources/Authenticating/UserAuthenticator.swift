public import LatchkeySignIn

/// How a person signs in: the one way that the caller allows.
public struct UserAuthenticator: Sendable {
    enum Way: Sendable {
        case agent(any UserAgent)
        case session(SignInMethods)
        case device(any DevicePrompt)
        case nobody
    }

    let way: Way

    /// Through a user agent: a browser with a loopback listener, a private-use scheme, a paste.
    public static func userAgent(_ agent: any UserAgent) -> UserAuthenticator { UserAuthenticator(way: .agent(agent)) }

    /// Through a user interface of the caller's own. Its redirect address must not be a loopback one with an open port.
    public static func presenter(_ presenter: any AuthorizationPresenter) -> UserAuthenticator {
        userAgent(PresentingUserAgent(presenter: presenter))
    }

    /// In the way that fits the session that the program runs in; see `SignInService.signIn(by:)`.
    public static func fitting(_ methods: SignInMethods) -> UserAuthenticator {
        UserAuthenticator(way: .session(methods))
    }

    /// With a code that the person enters on another device (RFC 8628).
    public static func device(_ prompt: any DevicePrompt) -> UserAuthenticator {
        UserAuthenticator(way: .device(prompt))
    }

    /// Nobody can sign in here: the login comes from the storage, or there is none.
    public static let nobody = UserAuthenticator(way: .nobody)
}
