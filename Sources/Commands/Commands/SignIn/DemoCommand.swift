internal import LatchkeyCredentials
internal import LatchkeyLeakAudit
internal import LatchkeyLog
internal import LatchkeyLoopback
internal import LatchkeyProcess
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine
internal import LatchkeyTestServer
internal import LatchkeyVault

/// `latchkey demo`.
enum DemoCommand {
    static let command = Command(
        "demo", topic: .program,
        summary: "show the whole path on a server in this process, then audit every byte of it",
        details: "Without --store it uses a vault of its own in a temporary folder, and removes it.",
        examples: ["latchkey demo"], runs: { _ in .pool }
    ) { arguments, context in
        let folder = try TemporaryFolder(in: context.environment["TMPDIR"] ?? "/tmp", prefix: "latchkey-demo-")
        let audit = LeakAudit()
        let report: LeakReport
        do {
            var recorder = try OutputRecorder(in: folder.path)
            defer { recorder.passOn() }
            let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(consent: .page))
            let demonstration = Demonstration(
                server: server, store: try await store(arguments, context, folder: folder.path),
                leases: LeaseDirectory(path: folder.path + "/leases"), output: context.output,
                log: log(audit, context.logger))
            try await demonstration.run { recorder.passOn() }
            // What a thief of the disk would find, while the session is there.
            try audit.capture(folder: folder.path)
            try await demonstration.signOut()
            recorder.passOn()
            try server.withEachSecret { (_, secret) throws(LeakAudit.CanaryTooShort) in try audit.plant(secret) }
            audit.capture(recorder.standardOutput, as: "standard output")
            audit.capture(recorder.standardError, as: "standard error")
            report = audit.report()
        }
        return try tell(report, context.output)
    }

    private static func tell(_ report: LeakReport, _ output: TerminalOutput) throws -> ExitStatus {
        for (number, line) in report.description.split(separator: "\n").enumerated() {
            let text = LoggableText(reviewed: "an audit says how much and where, never what", unredacted: String(line))
            try output.write(number == 0 ? "audit     \(text)" : "          \(text)")
        }
        if report.isClean { return .success }
        throw CommandFailure(.internalError, "demo.leak", "the audit is not clean")
    }

    /// A vault of its own, unless a store is named on the command line.
    private static func store(
        _ arguments: ParsedArguments, _ context: CommandContext, folder: String
    ) async throws -> any CredentialStore {
        if arguments.value(GlobalOptions.store) == "in-memory" { return try InMemoryStore() }
        if let named = context.namedStore, named.source == .argument { return try await context.openStore() }
        let key = folder + "/key"
        try VaultKeyFile.create(at: key)
        return try await VaultStore.create(at: folder + "/vault", unlockedBy: .keyFile(key), deadline: context.deadline)
    }

    /// The audit gets the log at its most talkative; the person gets what was asked for.
    private static func log(_ audit: LeakAudit, _ logger: RedactedLogger) -> RedactedLogger {
        RedactedLogger(
            "latchkey.demo", minimumLevel: .trace,
            sink: audit.logSink(named: "the log", forwardingTo: LevelledSink(logger: logger)))
    }
}

/// Passes records on where a logger's own level permits them.
private struct LevelledSink: LogSink {
    let logger: RedactedLogger

    func write(_ record: LogEntry) {
        logger.category(record.category).log(record.level, record.message)
    }
}
