internal import Glibc
internal import ProcessHardening
internal import RedactedLog
internal import Terminal

/// What this process runs in, and what protects it.
struct SessionCheck {
    let context: CommandContext

    var findings: [Finding] {
        [program, session, configuration, hardening]
    }

    private var program: Finding {
        guard OtherProgram.isInstalled else {
            return .problem(
                "program", .unavailable, "latchkey \(LatchkeyGrammar.version), without latchkey-auth beside it",
                remedy: "install both programs in one folder, or latchkey-auth in ../lib/latchkey")
        }
        return .good("program", "latchkey \(LatchkeyGrammar.version), with latchkey-auth")
    }

    // MARK: - The session

    private var session: Finding {
        let environment = context.environment
        var parts: [LogMessage] = []
        if environment["WAYLAND_DISPLAY"] != nil { parts.append("Wayland") }
        if environment["DISPLAY"] != nil { parts.append("X11") }
        if parts.isEmpty { parts.append("no display") }
        if environment["SSH_CONNECTION"] != nil { parts.append("over SSH") }
        if let sandbox { parts.append(sandbox) }
        if isWSL { parts.append("in WSL") }
        parts.append(isatty(2) == 1 ? "at a terminal" : "without a terminal")
        return .note("session", .joined(parts))
    }

    private var sandbox: LogMessage? {
        if exists("/.flatpak-info") { return "in a Flatpak" }
        if context.environment["SNAP"] != nil { return "in a snap" }
        if exists("/.dockerenv") || exists("/run/.containerenv") || context.environment["container"] != nil {
            return "in a container"
        }
        return nil
    }

    private var isWSL: Bool {
        exists("/proc/sys/fs/binfmt_misc/WSLInterop") || context.environment["WSL_DISTRO_NAME"] != nil
    }

    // MARK: - Files

    private var configuration: Finding {
        let file = context.configurationFolder + "/config"
        let memory = context.environment.stateDirectory + "/store"
        return .note(
            "configuration",
            "\(shown(file)) \(state(of: file)); what was used before: \(shown(memory)) \(state(of: memory))"
        )
    }

    private func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "a path of the configuration", unredacted: path)
    }

    private func state(of path: String) -> LogMessage { exists(path) ? "was read" : "isn't there" }

    private func exists(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    // MARK: - Protection

    private var hardening: Finding {
        let report = context.hardening
        guard report.refused.isEmpty else {
            return .problem(
                "hardening", .refused, "\(report)",
                remedy: "look at the limits that started this process, such as systemd's or a container's")
        }
        return .good("hardening", "\(report)")
    }
}
