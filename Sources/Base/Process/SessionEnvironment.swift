internal import Glibc
package import LatchkeyLog

/// What the session of a process has to reach a person with: a display, a terminal; and what may stand between them.
///
/// It is read from the environment and from files that sandboxes leave, and asks no other program.
package struct SessionEnvironment: Sendable, Hashable {
    package enum Sandbox: Sendable, Hashable {
        case flatpak
        case snap
        case container
    }

    /// `WAYLAND_DISPLAY` is set.
    package var hasWayland = false
    /// `DISPLAY` is set.
    package var hasX11 = false
    /// `BROWSER` names one (see `BrowserChoice`).
    package var namesBrowser = false
    /// The session came over SSH, so a display may be another machine's.
    package var isOverSSH = false
    /// The Windows Subsystem for Linux, whose browser is usually a Windows program.
    package var isWSL = false
    package var sandbox: Sandbox?
    /// A person can be asked at a terminal.
    package var hasTerminal = false

    /// Nothing at all.
    package init() {}

    /// - Parameters:
    ///   - environment: of the process.
    ///   - hasTerminal: whether a person can be asked at a terminal: the caller knows whether it may.
    package init(environment: [String: String], hasTerminal: Bool) {
        self.init(environment: environment, hasTerminal: hasTerminal) { unsafe access($0, F_OK) == 0 }
    }

    /// - Parameter exists: whether there is a file at a path.
    package init(environment: [String: String], hasTerminal: Bool, exists: (String) -> Bool) {
        func has(_ name: String) -> Bool { environment[name]?.isEmpty == false }
        hasWayland = has("WAYLAND_DISPLAY")
        hasX11 = has("DISPLAY")
        namesBrowser = has("BROWSER")
        isOverSSH = has("SSH_CONNECTION") || has("SSH_TTY")
        isWSL = has("WSL_DISTRO_NAME") || exists("/proc/sys/fs/binfmt_misc/WSLInterop")
        sandbox = Self.sandbox(has, exists)
        self.hasTerminal = hasTerminal
    }

    private static func sandbox(_ has: (String) -> Bool, _ exists: (String) -> Bool) -> Sandbox? {
        if exists("/.flatpak-info") { return .flatpak }
        if has("SNAP") { return .snap }
        if exists("/.dockerenv") || exists("/run/.containerenv") || has("container") { return .container }
        return nil
    }

    package var hasDisplay: Bool { hasWayland || hasX11 }

    /// Whether the person's browser may run where a loopback address is another machine's.
    package var mayBeElsewhere: Bool { isOverSSH || isWSL || sandbox == .container }
}

extension SessionEnvironment: Loggable {
    /// Safe: words of ours.
    package var logMessage: LogMessage {
        var parts: [LogMessage] = []
        if hasWayland { parts.append("Wayland") }
        if hasX11 { parts.append("X11") }
        if parts.isEmpty { parts.append("no display") }
        if isOverSSH { parts.append("over SSH") }
        switch sandbox {
        case .flatpak: parts.append("in a Flatpak")
        case .snap: parts.append("in a snap")
        case .container: parts.append("in a container")
        case nil: break
        }
        if isWSL { parts.append("in WSL") }
        parts.append(hasTerminal ? "at a terminal" : "without a terminal")
        return .joined(parts)
    }
}
