internal import Glibc
package import LatchkeyLog

/// The environment's variables and the directories that follow from them.
public struct ProgramEnvironment: Sendable, CustomReflectable {
    /// `NAME=value` of each variable; of two with one name the later counts. A command reads a few of them, so a start makes
    /// no dictionary.
    private let entries: [String]
    /// The names of the variables whose values are not UTF-8. Such a variable may say where a secret goes. Without it the
    /// secret would go elsewhere.
    package let illegibleNames: Set<String>
    /// The person's home directory: `HOME`, or else what the user database says.
    package let home: String

    /// An environment of the caller's own, for tests.
    public init(variables: [String: String], home: String) {
        self.init(variables: variables, home: home, illegibleNames: [])
    }

    package init(variables: [String: String], home: String, illegibleNames: Set<String>) {
        self.init(variables.map { "\($0)=\($1)" }, home: home, illegibleNames)
    }

    private init(_ entries: [String], home: String, _ illegibleNames: Set<String>) {
        self.entries = entries
        self.home = home
        self.illegibleNames = illegibleNames
    }

    /// The value of a variable; an empty one counts as not set.
    public subscript(_ name: String) -> String? {
        Self.value(of: name, in: entries).flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func value(of name: String, in entries: [String]) -> String? {
        for entry in entries.reversed() where entry.utf8.starts(with: name.utf8) {
            let rest = entry.utf8.dropFirst(name.utf8.count)
            if rest.first == UInt8(ascii: "=") { return String(Substring(rest.dropFirst())) }
        }
        return nil
    }

    /// All variables; where a name or value is not UTF-8, the variable is left out.
    package var variables: [String: String] {
        var variables: [String: String] = [:]
        for entry in entries {
            guard let equals = entry.utf8.firstIndex(of: UInt8(ascii: "=")) else { continue }
            variables[String(entry[..<equals])] = String(entry[entry.utf8.index(after: equals)...])
        }
        return variables
    }

    /// This process's environment.
    public static func current() -> ProgramEnvironment {
        var entries: [String] = []
        var illegible: Set<String> = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            if let text = unsafe String(validatingCString: entry), text.utf8.contains(UInt8(ascii: "=")) {
                entries.append(text)
            } else {
                // The repaired name is enough, because our names are ASCII.
                let name = unsafe String(cString: entry).utf8.prefix { $0 != UInt8(ascii: "=") }
                illegible.insert(String(decoding: name, as: UTF8.self))
            }
            unsafe next += 1
        }
        if let home = value(of: "HOME", in: entries), home.hasPrefix("/") {
            return ProgramEnvironment(entries, home: home, illegible)
        }
        let home = unsafe getpwuid(getuid()).flatMap { unsafe String(validatingCString: $0.pointee.pw_dir) }
        return ProgramEnvironment(entries, home: home ?? "/", illegible)
    }

    /// Whether a variable of this name is a location. Such a variable must not be ignored if it can't be read.
    package static func saysWhere(_ name: String) -> Bool {
        name.hasPrefix("LATCHKEY_") || name.hasPrefix("XDG_") || name == "HOME"
    }

    /// Leaves out the variables, because their values may be secrets.
    public var customMirror: Mirror { Mirror(self, children: ["home": home]) }

    /// Whether there is a display that a window can be shown on.
    package var hasDisplay: Bool { self["DISPLAY"] != nil || self["WAYLAND_DISPLAY"] != nil }

    // MARK: - Directories (XDG Base Directory Specification)

    /// `$XDG_DATA_HOME/latchkey`.
    package var dataDirectory: String { dataHome + "/latchkey" }
    /// `$XDG_CONFIG_HOME/latchkey`.
    package var configurationDirectory: String { configurationHome + "/latchkey" }
    /// `$XDG_STATE_HOME/latchkey`.
    package var stateDirectory: String { stateHome + "/latchkey" }

    /// `$XDG_DATA_HOME`.
    package var dataHome: String { base("XDG_DATA_HOME") ?? beneathHome(".local/share") }
    /// `$XDG_CONFIG_HOME`.
    package var configurationHome: String { base("XDG_CONFIG_HOME") ?? beneathHome(".config") }
    /// `$XDG_STATE_HOME`.
    package var stateHome: String { base("XDG_STATE_HOME") ?? beneathHome(".local/state") }
    /// `$XDG_RUNTIME_DIR`, or `nil`.
    package var runtimeDirectory: String? { base("XDG_RUNTIME_DIR") }

    /// A relative path in such a variable is invalid and ignored, as the specification asks.
    private func base(_ name: String) -> String? { self[name].flatMap { $0.hasPrefix("/") ? $0 : nil } }

    private func beneathHome(_ path: String) -> String { "\(home == "/" ? "" : home)/\(path)" }
}

/// A path that stays the same when the working directory changes. Links in it are left alone.
package enum AbsolutePath {
    package static func of(_ path: String) -> String {
        guard !path.hasPrefix("/"), let folder = unsafe getcwd(nil, 0) else { return path }
        defer { unsafe free(folder) }
        return unsafe String(cString: folder) + "/" + path
    }
}

/// The ways to reach a person in the session of a process, such as a display or a terminal, and the obstacles.
///
/// The values come from the environment and from files of sandboxes, not from other programs.
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
    /// Whether the process can ask a person at a terminal.
    package var hasTerminal = false

    /// - Parameters:
    ///   - environment: of the process.
    ///   - hasTerminal: whether the process can, and may, ask a person at a terminal.
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
