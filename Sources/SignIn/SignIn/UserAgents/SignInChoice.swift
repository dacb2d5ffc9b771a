package import LatchkeyLog
package import LatchkeyOAuth
package import LatchkeyProcess

/// How a person is sent to the authorization page, and how the response comes back.
package enum SignInMethod: Sendable, Hashable, CaseIterable {
    /// A browser on this machine, with a listener on a loopback address (RFC 8252 section 7.3).
    case browser
    /// The same, with a paste at the terminal beside it, whichever comes first.
    case browserAndPaste
    /// A browser on this machine, with the handler of a private-use scheme (RFC 8252 section 7.1).
    case scheme
    /// The page's address at the terminal, where the user pastes the address that the browser ends at. A listener also
    /// waits if the redirect is a loopback address.
    case paste
    /// A code at the terminal, entered on another device (RFC 8628).
    case device
}

/// Which way a sign-in goes, and why.
package struct SignInChoice: Sendable, Hashable {
    package let way: SignInMethod
    package let reason: Reason

    package enum Reason: Sendable, Hashable {
        /// The caller asked for it.
        case asked
        /// The service accepts a browser's response from clients with a secret alone, and none is stored.
        case noClientSecret
        /// `BROWSER` names a browser.
        case namedBrowser
        case display
        /// There is a browser, which may run where this machine's loopback address means another one.
        case browserMayBeElsewhere
        case noDisplay
        /// No display is available, and the server lacks the device grant.
        case noDisplayNoDeviceGrant
        /// No display is available, and the caller set the redirect, which a device code doesn't use: its port may be
        /// forwarded to this machine.
        case namedRedirect
        /// The redirect is a private-use scheme, whose handler is installed.
        case handler
        /// The redirect is a private-use scheme, and nothing here takes it.
        case noHandler
        /// The redirect is a page on the web: only the person sees where the browser ends.
        case webRedirect
    }

    /// The abilities of the user's session and the server.
    package struct Capabilities: Sendable, Hashable {
        package var sessionEnvironment: SessionEnvironment
        /// Whether the server has a device authorization endpoint (RFC 8628 section 4), and a code can be shown.
        package var hasDeviceGrant: Bool
        /// Whether the server refuses all but device codes, because the client has no secret.
        package var lacksSecret = false
        /// Whether the handler of the redirect's private-use scheme is installed.
        package var hasHandler: Bool
        /// Whether the caller named the redirect, in place of the provider's own.
        package var namesRedirect = false

        package init(sessionEnvironment: SessionEnvironment, hasDeviceGrant: Bool = false, hasHandler: Bool = false) {
            self.sessionEnvironment = sessionEnvironment
            self.hasDeviceGrant = hasDeviceGrant
            self.hasHandler = hasHandler
        }
    }

    /// Chooses without a question.
    ///
    /// - Parameter wanted: the caller's choice, which is used unchanged.
    ///
    /// Throws `.unavailable(.noWay)` if there is neither a browser nor a terminal, nor a code; `.unavailable(.noTerminal)`
    /// if only a terminal would do; `.unavailable(.noHandler)` if only a handler would.
    package init(
        _ capabilities: Capabilities, redirect: RedirectURI.Kind, wanted: SignInMethod? = nil
    ) throws(UserAgentError) {
        if let wanted {
            self.init(wanted, .asked)
        } else {
            self = try Self.choose(capabilities, redirect)
        }
    }

    private init(_ way: SignInMethod, _ reason: Reason) {
        self.way = way
        self.reason = reason
    }

    private static func choose(
        _ capabilities: Capabilities, _ redirect: RedirectURI.Kind
    ) throws(UserAgentError) -> SignInChoice {
        let sessionEnvironment = capabilities.sessionEnvironment
        let hasBrowser = sessionEnvironment.namesBrowser || sessionEnvironment.hasDisplay
        let hasTerminal = sessionEnvironment.hasTerminal
        let showsCode = capabilities.hasDeviceGrant && !capabilities.namesRedirect
        if capabilities.lacksSecret, showsCode { return SignInChoice(.device, .noClientSecret) }
        let whyBrowser: Reason = sessionEnvironment.namesBrowser ? .namedBrowser : .display
        switch redirect {
        case .loopback where hasBrowser:
            if sessionEnvironment.mayBeElsewhere, hasTerminal {
                return SignInChoice(.browserAndPaste, .browserMayBeElsewhere)
            }
            return SignInChoice(.browser, whyBrowser)
        case .privateUse where hasBrowser && capabilities.hasHandler: return SignInChoice(.scheme, .handler)
        case .privateUse where hasBrowser && hasTerminal: return SignInChoice(.paste, .noHandler)
        case .privateUse where hasBrowser && !showsCode: throw .unavailable(.noHandler)
        case .https where hasBrowser && hasTerminal: return SignInChoice(.paste, .webRedirect)
        case .loopback, .privateUse, .https: break
        }
        if showsCode {
            let whyNoBrowser: Reason = redirect == .privateUse ? .noHandler : .webRedirect
            return SignInChoice(.device, hasBrowser ? whyNoBrowser : .noDisplay)
        }
        guard hasTerminal else { throw .unavailable(hasBrowser ? .noTerminal : .noWay) }
        return SignInChoice(.paste, capabilities.namesRedirect ? .namedRedirect : .noDisplayNoDeviceGrant)
    }
}

extension SignInChoice: Loggable {
    /// Safe: fixed words. A sentence for the user.
    package var logMessage: LogMessage { "\(way.logMessage), because \(reason.logMessage)" }
}

extension SignInMethod: Loggable {
    /// Safe: fixed words.
    package var logMessage: LogMessage {
        switch self {
        case .browser: "signing in with a browser here"
        case .browserAndPaste: "signing in with a browser here or with a paste"
        case .scheme: "signing in with a browser here, which starts the program that takes the response"
        case .paste: "signing in with a browser anywhere and a paste"
        case .device: "signing in on another device"
        }
    }
}

extension SignInChoice.Reason: Loggable {
    /// Safe: fixed words.
    package var logMessage: LogMessage {
        switch self {
        case .asked: "you asked for it"
        case .noClientSecret: "the service wants the client's secret for any other method, and none is stored"
        case .namedBrowser: "BROWSER names a browser"
        case .display: "a display is available"
        case .browserMayBeElsewhere: "the browser may run on another machine"
        case .noDisplay: "no display is available"
        case .noDisplayNoDeviceGrant: "no display is available and the server doesn't support device codes"
        case .namedRedirect: "no display is available and a redirect URI is set"
        case .handler: "a handler is installed for the redirect's scheme"
        case .noHandler: "no program here handles the redirect's scheme"
        case .webRedirect: "the redirect is a page on the web"
        }
    }
}
