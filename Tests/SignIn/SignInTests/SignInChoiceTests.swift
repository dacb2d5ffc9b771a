import Glibc
import LatchkeyLog
import LatchkeyOAuth
import LatchkeyProcess
import LatchkeySignIn
import TestServices
import Testing

/// (session × redirect × server × handler) → way, with the reason.
struct SignInChoiceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let environment: [String: String]
        var files: Set<String> = []
        var hasTerminal = true
        var redirect = RedirectURI.Kind.loopback
        var hasDeviceGrant = false
        var hasHandler = false
        var namesRedirect = false
        var lacksSecret = false
        var wanted: SignInMethod?
        let way: SignInMethod?
        var reason = SignInChoice.Reason.asked
        var failure: UserAgentError.Reason?

        var testDescription: String {
            "\(environment) \(files) \(hasTerminal) \(redirect) \(hasDeviceGrant) \(hasHandler)"
        }
    }

    private static let wayland = ["WAYLAND_DISPLAY": "wayland-0"]
    private static let forwarded = ["DISPLAY": "localhost:10.0", "SSH_CONNECTION": "10.0.0.2 50000 10.0.0.1 22"]
    private static let ssh = ["SSH_TTY": "/dev/pts/3"]
    private static let empty = ["DISPLAY": "", "WAYLAND_DISPLAY": "", "BROWSER": "", "SSH_CONNECTION": ""]

    static let cases: [Case] = [
        Case(environment: wayland, way: .browser, reason: .display),
        Case(environment: ["DISPLAY": ":0"], hasTerminal: false, hasDeviceGrant: true, way: .browser, reason: .display),
        Case(environment: ["BROWSER": "w3m"], hasTerminal: false, way: .browser, reason: .namedBrowser),
        Case(environment: forwarded, way: .browserAndPaste, reason: .browserMayBeElsewhere),
        Case(environment: forwarded, hasTerminal: false, way: .browser, reason: .display),
        Case(
            environment: ["WSL_DISTRO_NAME": "Debian", "BROWSER": "wslview"], hasDeviceGrant: true,
            way: .browserAndPaste, reason: .browserMayBeElsewhere),
        Case(
            environment: ["container": "podman", "BROWSER": "host-browser"], way: .browserAndPaste,
            reason: .browserMayBeElsewhere),
        Case(
            environment: wayland, files: ["/run/.containerenv"], way: .browserAndPaste, reason: .browserMayBeElsewhere),
        Case(environment: wayland, files: ["/.flatpak-info"], way: .browser, reason: .display),
        Case(
            environment: ["BROWSER": "wslview"], files: ["/proc/sys/fs/binfmt_misc/WSLInterop"], way: .browserAndPaste,
            reason: .browserMayBeElsewhere),
        Case(environment: ssh, hasDeviceGrant: true, way: .device, reason: .noDisplay),
        Case(environment: ssh, way: .paste, reason: .noDisplayNoDeviceGrant),
        Case(environment: ssh, hasDeviceGrant: true, namesRedirect: true, way: .paste, reason: .namedRedirect),
        Case(environment: wayland, namesRedirect: true, way: .browser, reason: .display),
        Case(environment: ["container": "docker"], hasDeviceGrant: true, way: .device, reason: .noDisplay),
        Case(environment: empty, hasDeviceGrant: true, way: .device, reason: .noDisplay),
        Case(environment: empty, hasTerminal: false, hasDeviceGrant: true, way: .device, reason: .noDisplay),
        Case(environment: wayland, hasDeviceGrant: true, lacksSecret: true, way: .device, reason: .noClientSecret),
        Case(environment: wayland, lacksSecret: true, way: .browser, reason: .display),
        Case(
            environment: wayland, hasDeviceGrant: true, namesRedirect: true, lacksSecret: true, way: .browser,
            reason: .display),
        Case(environment: wayland, hasDeviceGrant: true, lacksSecret: true, wanted: .browser, way: .browser),
        Case(environment: [:], hasTerminal: false, way: nil, failure: .noWay),

        Case(environment: wayland, redirect: .privateUse, hasHandler: true, way: .scheme, reason: .handler),
        Case(environment: wayland, redirect: .privateUse, way: .paste, reason: .noHandler),
        Case(environment: wayland, hasTerminal: false, redirect: .privateUse, way: nil, failure: .noHandler),
        Case(
            environment: wayland, hasTerminal: false, redirect: .privateUse, hasDeviceGrant: true, way: .device,
            reason: .noHandler),
        Case(
            environment: wayland, hasTerminal: false, redirect: .privateUse, hasDeviceGrant: true, namesRedirect: true,
            way: nil, failure: .noHandler),
        Case(
            environment: wayland, hasTerminal: false, redirect: .https, hasDeviceGrant: true, way: .device,
            reason: .webRedirect),
        Case(
            environment: ssh, redirect: .privateUse, hasDeviceGrant: true, hasHandler: true, way: .device,
            reason: .noDisplay),
        Case(environment: ssh, redirect: .privateUse, way: .paste, reason: .noDisplayNoDeviceGrant),
        Case(environment: wayland, redirect: .https, hasDeviceGrant: true, way: .paste, reason: .webRedirect),
        Case(environment: wayland, hasTerminal: false, redirect: .https, way: nil, failure: .noTerminal),
        Case(environment: ssh, redirect: .https, hasDeviceGrant: true, way: .device, reason: .noDisplay),

        // Whatever the session is, the caller may say otherwise.
        Case(environment: wayland, wanted: .device, way: .device),
        Case(environment: [:], hasTerminal: false, wanted: .browser, way: .browser),
        Case(environment: forwarded, hasDeviceGrant: true, wanted: .paste, way: .paste),
    ]

    @Test(arguments: cases)
    func `the session environment decides, and the choice says why`(_ test: Case) throws {
        var capabilities = SignInChoice.Capabilities(
            sessionEnvironment: SessionEnvironment(
                environment: test.environment, hasTerminal: test.hasTerminal, exists: test.files.contains),
            hasDeviceGrant: test.hasDeviceGrant, hasHandler: test.hasHandler)
        capabilities.namesRedirect = test.namesRedirect
        capabilities.lacksSecret = test.lacksSecret
        do {
            let choice = try SignInChoice(capabilities, redirect: test.redirect, wanted: test.wanted)
            #expect(choice.way == test.way && choice.reason == test.reason, "\(choice)")
            #expect(choice.logMessage.text.contains(", because "))
        } catch {
            let failure = try #require(test.failure, "\(error)")
            #expect(error == .unavailable(failure))
            #expect(error.hint != nil)
        }
    }

    @Test func `a session environment is described in our words only`() {
        let sessionEnvironment = SessionEnvironment(
            environment: [
                "DISPLAY": "secret-display", "SSH_CONNECTION": "10.9.8.7 1 10.9.8.6 22", "WSL_DISTRO_NAME": "name",
                "SNAP": "/snap/x",
            ], hasTerminal: true, exists: { _ in false })
        #expect(sessionEnvironment.logMessage.text == "X11, over SSH, in a snap, in WSL, at a terminal")
    }

    /// The tutorials' programs said over SSH that there was no terminal.
    @Test func `without a display, the process's own terminal takes a paste`() async {
        await #expect(processExitsWith: .success) {
            func terminal() -> (any PromptTerminal)? {
                let agent = UserAgent.automatic(in: ProgramEnvironment(variables: [:], home: "/"))
                return if case .methods(let methods) = agent.way { methods.terminal } else { nil }
            }
            // A session of its own has no terminal before it opens one (setsid(2)).
            guard setsid() >= 0, terminal() == nil else { exit(1) }
            let own = try PseudoTerminal()
            guard unsafe open(own.path, O_RDWR) >= 0, let terminal = terminal() else { exit(2) }
            try await terminal.show("hello")
            try await own.waitUntilShown("hello")
            exit(0)
        }
    }
}
