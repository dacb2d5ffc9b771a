internal import Glibc

/// The environment's variables and the directories that follow from them. No variable holds a secret.
public struct ProgramEnvironment: Sendable {
    /// All variables; where a name or value is not UTF-8, the variable is left out.
    package let variables: [String: String]
    /// The names of those whose values are not UTF-8. Leaving one out that says where a secret goes would lead it
    /// elsewhere.
    package let illegibleNames: Set<String>
    /// The person's home directory: `HOME`, or else what the user database says.
    package let home: String

    /// An environment of the caller's own, for tests.
    public init(variables: [String: String], home: String) {
        self.init(variables: variables, home: home, illegibleNames: [])
    }

    package init(variables: [String: String], home: String, illegibleNames: Set<String>) {
        self.variables = variables
        self.home = home
        self.illegibleNames = illegibleNames
    }

    /// The value of a variable; an empty one counts as not set.
    public subscript(_ name: String) -> String? {
        variables[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// This process's environment.
    public static func current() -> ProgramEnvironment {
        var variables: [String: String] = [:]
        var illegible: Set<String> = []
        var next = unsafe environ
        while let entry = unsafe next.pointee {
            if let text = unsafe String(validatingCString: entry),
                let equals = text.utf8.firstIndex(of: UInt8(ascii: "="))
            {
                variables[String(text[..<equals])] = String(text[text.utf8.index(after: equals)...])
            } else {
                // Repaired: names of ours are ASCII, and a name that isn't is nobody's.
                unsafe illegible.insert(String(String(cString: entry).prefix { $0 != "=" }))
            }
            unsafe next += 1
        }
        if let home = variables["HOME"], home.hasPrefix("/") {
            return ProgramEnvironment(variables: variables, home: home, illegibleNames: illegible)
        }
        let home = unsafe getpwuid(getuid()).flatMap { unsafe String(validatingCString: $0.pointee.pw_dir) }
        return ProgramEnvironment(variables: variables, home: home ?? "/", illegibleNames: illegible)
    }

    /// Whether a variable of this name says where something is kept: one that can't be read must not be passed over.
    package static func saysWhere(_ name: String) -> Bool {
        name.hasPrefix("LATCHKEY_") || name.hasPrefix("XDG_") || name == "HOME"
    }

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
