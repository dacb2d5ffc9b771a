internal import LatchkeyVault

/// `latchkey vault status`.
enum VaultStatusCommand {
    static let command = Command(
        "vault", "status", summary: "show a vault's state and keys",
        details: """
            status asks no question. The key file is the one that Latchkey remembers for the vault. If the vault opens without a
            question, status also shows the names of the slots, the number of credentials, and the generation, which counts changes.
            If a key that you specified doesn't fit, status reports that last and fails.
            """,
        examples: ["latchkey vault status"]
    ) { arguments, context in
        let path = context.settings.vaultPath
        let locked = try await context.settings.lockedVault()
        var status = VaultStatus(path: path, vault: locked)
        if locked.slots.contains(where: { $0.kind == .keyFile }) {
            status.keyFile = RememberedKeyFiles(context.environment).paths(forVault: locked.identifier).first
        }
        do throws(StoreError) {
            status.unlocking = try locked.unlocking()
        } catch {
            context.logger.debug("can't check the kernel's keyring: \(error)")
        }
        var refusal: StoreError?
        do throws(StoreError) {
            let vault = try await context.settings.askingNobody.unlock(locked)
            status.contents = .init(
                slots: try await vault.slots(deadline: context.deadline).sorted { $0.name.text < $1.name.text },
                generation: vault.extent.generation, itemCount: vault.extent.itemCount)
        } catch {
            // A vault that only opens with a question is a state, not an error.
            if error.code != .locked { refusal = error }
            status.isRefused = error.code == .rolledBack
        }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(status.json)
        } else {
            try context.output.write(status.table)
        }
        if let refusal { throw refusal }
        return .success
    }
}

/// The facts about a vault that need no question.
private struct VaultStatus {
    struct Contents {
        let slots: [KeySlotDescription]
        let generation: UInt64
        let itemCount: UInt64
    }

    let path: String
    let vault: LockedVault
    var unlocking = VaultUnlocking.locked
    /// The path that Latchkey remembers for the vault.
    var keyFile: String?
    /// `nil` where nothing opens it without asking.
    var contents: Contents?
    /// Whether it lacks what it had before.
    var isRefused = false

    private func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or of its key file, which people name", unredacted: path)
    }

    /// Not in the order of the file, which is by chance.
    private var kinds: [LogMessage] { vault.slots.map { "\($0.kind)" as LogMessage }.sorted { $0.text < $1.text } }

    private var state: LogMessage {
        if isRefused { return "refused" }
        return switch unlocking {
        case .unlocked(let time?): "unlocked, for \(time.inWords) or a little more"
        case .unlocked(nil): "unlocked"
        case .locked: contents == nil ? "locked" : "opens without a question"
        }
    }

    var table: TextTable {
        var table = TextTable("ABOUT", "FOUND", wrapping: true)
        table.append("vault", "\(shown(path))")
        table.append("state", state)
        if let byteCount = vault.byteCount { table.append("size", "\(byteCount) bytes") }
        table.append("slots", LogMessage.joined(contents?.slots.map(\.kindAndName) ?? kinds))
        if let keyFile { table.append("key file", "\(shown(keyFile))") }
        if let contents {
            table.append("credentials", "\(contents.itemCount)")
            table.append("generation", "\(contents.generation)")
        }
        return table
    }

    var json: JSONOutput {
        func number(_ number: Int64?) -> JSONOutput { number.map { .number($0) } ?? .null }
        var seconds: Int64?
        if case .unlocked(let time?) = unlocking { seconds = time.components.seconds }
        let names = contents.map { JSONOutput.array($0.slots.map { .message("\($0.name)") }) }
        let state: LogMessage =
            isRefused ? "refused" : unlocking != .locked ? "unlocked" : contents == nil ? "locked" : "open"
        let byteCount = vault.byteCount.map { Int64($0) }
        let itemCount = contents.map { Int64($0.itemCount) }
        let generation = contents.map { Int64($0.generation) }
        let members: [(name: StaticString, value: JSONOutput)] = [
            ("vault", .text(shown(path))),
            ("state", .message(state)),
            ("seconds", number(seconds)),
            ("bytes", number(byteCount)),
            ("slots", .array(kinds.map { .message($0) })),
            ("names", names ?? .null),
            ("credentials", number(itemCount)),
            ("generation", number(generation)),
            ("key_file", keyFile.map { .text(shown($0)) } ?? .null),
        ]
        return .object(members)
    }
}

extension KeySlotDescription {
    /// The kind, with the slot's name.
    fileprivate var kindAndName: LogMessage {
        let kind: LogMessage = "\(kind)"
        let usual: [KeySlotName] = [.passphrase, .keyFile, .systemCredential, .secretService]
        return usual.contains(name) ? kind : "\(kind) \(name)"
    }
}
