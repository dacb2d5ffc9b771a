internal import Glibc

/// The surroundings and the protection of this process.
struct ProcessCheck {
    let context: CommandContext

    var findings: [Finding] {
        [program, session, configuration, hardening, memory]
    }

    private var program: Finding {
        .good("program", "latchkey \(LatchkeyGrammar.version)")
    }

    // MARK: - The session

    private var session: Finding {
        .note(
            "session",
            "\(SessionEnvironment(environment: context.environment.variables, hasTerminal: hasTerminal))")
    }

    /// As a sign-in sees it, which asks at the terminal itself, wherever its streams go.
    private var hasTerminal: Bool { SecretPrompt(isAllowed: true).isPossible }

    // MARK: - Files

    private var configuration: Finding {
        if let problem = context.configurationProblem { return .refusal("configuration", problem, matters: true) }
        let file = context.configurationFolder + "/config"
        let memory = context.environment.stateDirectory + "/store"
        return .note(
            "configuration",
            "\(shown(file)) \(state(of: file)); last store used: \(shown(memory)) \(state(of: memory))"
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
                remedy: "check the limits that systemd, a container or another parent sets for this process")
        }
        return .good("hardening", "\(report)")
    }

    /// The kernel's protection for secrets of this process (mlock(2), RLIMIT_MEMLOCK).
    private var memory: Finding {
        let zero: [UInt8] = [0]
        return switch Secret<MessageBody>(copying: zero.span).memoryProtection {
        case .locked: .good("memory", "secrets are locked in memory, and never reach swap")
        case .unlocked:
            .note(
                "memory", "the kernel doesn't lock secrets in memory, so they may reach swap",
                remedy: "raise the limit (`ulimit -l`, `podman run --ulimit memlock=1048576`), or encrypt the swap")
        }
    }
}
