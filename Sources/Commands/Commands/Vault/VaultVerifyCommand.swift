internal import LatchkeyVault

/// `latchkey vault verify`.
enum VaultVerifyCommand {
    private static let accept = CommandOption.flag(
        "--accept", help: "make a vault usable that was changed without its key: keep what is intact")

    static let command = Command(
        "vault", "verify", summary: "check a vault for damage, and for missing or replaced secrets",
        options: [accept],
        details: """
            Latchkey refuses to use a vault that someone has changed without its key. --accept makes the vault usable again: it deletes
            what is damaged, restores what was moved, rebuilds the index, and lists what is lost. Copy the file first, or restore a
            backup instead. --accept doesn't repair damaged pages, such as after a disk's fault. To save what can still be read, run
            `latchkey vault export --leave-out-damaged FILE`.

            Other programs can use the vault during the check; a large vault needs space for a second copy until then. Exits with 65 if
            something is damaged, and with 77 if the vault is intact but is, or may be, older than the last seen state, such as
            a backup.
            """,
        examples: ["latchkey vault verify"]
    ) { arguments, context in
        let vault = try await open(context)
        let done = arguments.has(accept) ? try await acceptItems(vault, arguments, context) : nil
        let progress = context.output.progress("verifying")
        let found: VaultVerification
        do {
            defer { progress.end() }
            found = try await vault.verify(deadline: context.longDeadline(arguments)) { progress.show(fraction: $0) }
        }
        if context.output.isJSON {
            try context.output.write(json(found, done))
        } else {
            for problem in found.problems { try context.output.write("\(problem)") }
        }
        note(vault.rollback, context.output)
        if case .rolledBack(let rollback)? = found.problems.first, found.problems.count == 1 {
            throw StoreError(
                .rolledBack, "\(vault.identity) is intact, but older than the last seen state: \(rollback)",
                hint: "if a backup was restored or saves were lost, run `latchkey vault accept-rollback`")
        }
        if found.problems == [.changedMemory] {
            throw StoreError(
                .rolledBack, "\(vault.identity) is intact, but may be older than the last seen state",
                hint: "if you restored a backup or rekeyed the vault elsewhere, run `latchkey vault accept-rollback`")
        }
        guard found.isSound else {
            throw StoreError(
                .corrupted, "\(vault.identity) is damaged, or was changed without its key",
                hint: found.problems.contains { $0.isOfTheFile }
                    ? hintOfTheFile
                    : "restore a backup, or keep what is intact with `latchkey vault verify --accept`")
        }
        if !context.output.isJSON {
            try context.output.write("\(vault.identity): \(LogMessage.credentials(found.itemCount)), all intact")
        }
        return .success
    }

    private static let hintOfTheFile: LogMessage =
        "restore a backup, or save what can be read with `latchkey vault export --leave-out-damaged FILE`"

    private static func json(_ found: VaultVerification, _ done: VaultAcceptance?) -> JSONOutput {
        var members: [(name: StaticString, value: JSONOutput)] = [
            ("intact", .bool(found.isSound)), ("credentials", .number(Int64(found.itemCount))),
            ("problems", .array(found.problems.map { .message("\($0)") })),
        ]
        if let done {
            members.append(("dropped", .array(done.dropped.map { .message("\($0)") })))
            members.append(("restored", .array(done.restored.map { .message("\($0)") })))
            members.append(("index_rebuilt", .bool(done.hasNewIndex)))
            members.append(("accepted", .optional(done.lost.map { "\($0)" as LogMessage })))
        }
        return .object(members)
    }

    private static func acceptItems(
        _ vault: VaultStore, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> VaultAcceptance {
        let done = try await mapError(
            { (error: StoreError) in
                !error.isCorruption
                    ? error : StoreError(.corrupted, error.cause, hint: hintOfTheFile, platform: error.platform)
            }, awaiting: await vault.acceptItems(deadline: context.longDeadline(arguments)))
        if !context.output.isJSON {
            for problem in done.dropped { try context.output.write("dropped: \(problem)") }
            for problem in done.restored { try context.output.write("restored: \(problem)") }
            if done.hasNewIndex { try context.output.write("rebuilt: the index of attributes") }
            if let lost = done.lost { try context.output.write("accepted: \(lost)") }
        }
        if done.lost != nil {
            context.output.warn(
                "deleted or replaced credentials are lost, unless a backup contains them",
                hint: "compare a backup with `latchkey list`, and change passwords that may be out of date")
        }
        if done.dropped.isEmpty && done.restored.isEmpty && done.lost == nil && !done.hasNewIndex {
            context.output.note("nothing to accept")
        } else {
            context.logger.info("accepted \(vault.identity)")
        }
        return done
    }

    /// Notes what an intact vault can't show by itself.
    private static func note(_ rollback: RollbackCheck, _ output: TerminalOutput) {
        switch rollback {
        case .firstSeen:
            output.note("this machine hasn't seen this vault before, so an older copy can't be detected")
        case .unavailable(let error):
            output.note("can't check whether the vault was replaced with an older copy: \(error)")
        case .notAsked, .current, .rolledBack, .unreadable: break
        }
    }

    private static func open(_ context: CommandContext) async throws -> VaultStore {
        try await mapError(
            { (error: StoreError) in
                !error.isCorruption
                    ? error
                    : StoreError(
                        .corrupted, error.cause, hint: "restore a backup, because the vault can't be opened",
                        platform: error.platform)
            }, awaiting: await context.openVault(onRollback: .report, itemCheck: .never))
    }
}

extension VaultProblem {
    /// Whether the file itself is damaged, which --accept doesn't repair.
    fileprivate var isOfTheFile: Bool {
        switch self {
        case .damagedPage, .wrongLength, .brokenStructure: true
        default: false
        }
    }
}
