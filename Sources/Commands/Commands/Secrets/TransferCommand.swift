internal import LatchkeyVault

/// `latchkey copy` and `latchkey move`, from one store to another.
package enum TransferCommand {
    static let from = CommandOption.value(
        "--from", "STORE", isRequired: true, help: "store to read from, or a vault's PATH or URI")
    static let to = CommandOption.value(
        "--to", "STORE", isRequired: true, help: "store to write to, or a vault's PATH or URI")
    package static let replace = CommandOption.flag(
        "--replace", help: "overwrite secrets of the same name in the target")
    private static let use = CommandOption.flag("--use", help: "use the target from now on, without asking")
    package static let dryRun = CommandOption.flag("--dry-run", help: "show what would be done, and change nothing")

    private static let operands: [CommandOperand] = [
        .optional("SERVICE", help: "only this service (default: all credentials of every kind)"),
        .optional("ACCOUNT", help: "only this account of the service"),
    ]
    private static let details: StaticString = """
        Each copy is verified before it counts, and before move deletes the original. A vault keeps the times of the originals; a
        keyring sets its own. If interrupted, run the command again.

        If the target has another secret of the same name, that secret stays and the command exits with 73, unless you add
        --replace. Exits with 1 if nothing matches.

        Items that other programs have stored in a vault are included, with their collection and times. With SERVICE, those
        whose attribute service is SERVICE are included. In the desktop's keyring, items with a service and a username alone
        are included, also those of other programs, such as Python keyring's; other items aren't: run
        `latchkey import --from gnome-keyring-collection --items` to copy them. The keys of vaults stay in the keyring too.

        Where the target has the same secret already (same), move deletes the original. Where the keyring has several items of
        one name with different secrets, move leaves them there (differs), which --dry-run doesn't see.

        PATH must contain a slash. Latchkey looks for the key of such a vault as usual, or asks for its passphrase.
        """

    static let copy = Command(
        "copy", topic: .stores, summary: "copy credentials from one store to another", operands: operands,
        options: [from, to, replace, dryRun], details: details,
        examples: ["latchkey copy --from secret-service --to vault example.org"]
    ) { try await run($0, $1, .copy) }

    static let move = Command(
        "move", topic: .stores, summary: "move credentials from one store to another", operands: operands,
        options: [from, to, replace, use, dryRun], details: details,
        examples: [
            "latchkey move --from secret-service --to vault --dry-run",
            "latchkey move --from secret-service --to vault --use",
        ]
    ) { try await run($0, $1, .move) }

    private static func run(
        _ arguments: ParsedArguments, _ context: CommandContext, _ mode: Transfer.Mode
    ) async throws -> ExitStatus {
        let ends = (try TransferEnd(from, arguments, context), try TransferEnd(to, arguments, context))
        guard !ends.0.isSame(as: ends.1) else { throw sameStore() }
        let source = try await ends.0.open()
        let target = try await ends.1.open()
        // If the vault is served as that keyring, moving a secret would delete it.
        guard source.identity != target.identity,
            try await !ServedVault.isServed(source, target, deadline: context.deadline)
        else { throw sameStore() }
        let transfer = Transfer(
            from: source, to: target, mode: mode, replaces: arguments.has(replace))
        let all = try await transfer.items(
            service: arguments.optionalOperand("SERVICE"), account: arguments.optionalOperand("ACCOUNT"),
            deadline: context.deadline)
        let items = all.filter(transfer.takes)
        let keys = try await keys(of: source, besides: items, arguments, context)
        guard !keys.isEmpty || !items.isEmpty else {
            throw CommandFailure(
                .notFound, "credential.not-found", "no matching credential in \(source.identity)",
                hint: "run `latchkey list \(ends.0.option)` to see the stored secrets")
        }
        let run = TransferRun(
            transfer: transfer, work: mode == .copy ? "copying" : "moving", isRehearsal: arguments.has(dryRun),
            showsJSON: arguments.has(GlobalOptions.json))
        let isMoved = mode == .move && !arguments.has(dryRun)
        if !transfer.takesItems { await tellOfItems(in: source, arguments, context) }
        if all.count > items.count {
            let what = LogMessage.counted(all.count - items.count, "item", "items")
            context.output.note("skipped \(what) with latchkey:kind, which the keyring would read as a sign-in")
        }
        do {
            let status = try await run.run(keys, items: items, context)
            if isMoved { try await changeStoreInUse(ends.0, ends.1, arguments.has(use), context) }
            return status
        } catch let error as CommandFailure where isMoved {
            // The others were moved.
            try await changeStoreInUse(ends.0, ends.1, arguments.has(use), context)
            throw error
        }
    }

    private static func sameStore() -> CommandFailure {
        CommandFailure(
            .usage, "transfer.same-store", "--from and --to are the same store",
            hint: "use another store, such as a vault by its path; `latchkey keyring status` shows the served vault")
    }

    /// Another store gets credentials alone: what other programs keep in the vault stays there.
    private static func tellOfItems(
        in source: any CredentialStore, _ arguments: ParsedArguments, _ context: CommandContext
    ) async {
        guard let vault = source.collections, arguments.optionalOperand("SERVICE") == nil,
            let count = try? await vault.unnamedItems(deadline: context.deadline).count, count > 0
        else { return }
        let items = LogMessage.counted(
            count, "item with other attributes was skipped", "items with other attributes were skipped")
        context.output.note("\(items): latchkey list --items")
    }

    /// The next command would find nothing in the store in use, which was emptied: makes the target the store in use, if
    /// the person says so.
    private static func changeStoreInUse(
        _ from: TransferEnd, _ to: TransferEnd, _ isWanted: Bool, _ context: CommandContext
    ) async throws {
        let choice = try? await context.selector.choose(
            named: context.namedStore, settings: context.settings.askingNobody, remembers: false)
        guard let choice, choice.backend.name.description == from.backend.name.description, !from.isOtherVault else {
            return
        }
        let name = to.backend.name
        let question: LogMessage = to.isOtherVault ? "Use \(to.shownPath) from now on?" : "Use \(name) from now on?"
        let file = context.configurationFile
        guard try isWanted || (context.prompt.isPossible && context.prompt.confirm(question)) else {
            let change: LogMessage =
                switch (choice.source == .environment, to.isOtherVault) {
                case (true, true): "set LATCHKEY_VAULT=\(CredentialName.word(to.path))"
                case (true, false): "set LATCHKEY_STORE=\(name)"
                case (false, true): "run `latchkey config set vault \(CredentialName.word(to.path))`"
                case (false, false): "run `latchkey config set store \(name)`"
                }
            return context.output.note("\(from.backend.name) is still the store in use; to change that, \(change)")
        }
        if to.isOtherVault { try file.set("vault", to: to.path) }
        try file.set("store", to: name.description)
        let place: LogMessage = to.isOtherVault ? "\(to.shownPath)" : "\(name)"
        context.output.note("\(place) is the store in use now (set in \(file.shownPath))")
        if choice.source == .environment {
            context.output.warn(
                "the environment still names \(from.backend.name)",
                hint: "unset LATCHKEY_STORE, LATCHKEY_VAULT and LATCHKEY_COLLECTION")
        }
    }

    private static func keys(
        of source: any CredentialStore, besides items: [Item], _ arguments: ParsedArguments,
        _ context: CommandContext
    ) async throws -> [CredentialKey] {
        // Items that are credentials are moved as items.
        let versions = Set(items.map(\.version))
        let account = arguments.optionalOperand("ACCOUNT")
        var keys: [CredentialKey] = []
        for entry in try await source.list(
            service: arguments.optionalOperand("SERVICE"), deadline: context.deadline
        ).all() where account.map({ $0.hasSameOctets(as: entry.key.account) }) ?? true {
            if let version = entry.version, versions.contains(version) { continue }
            // In the vault that it opens it would open nothing.
            if source.collections == nil, VaultKeyring.isVaultKey(entry.key) { continue }
            keys.append(entry.key)
        }
        return keys.sorted { $0.isListed(before: $1) }
    }
}

/// One of the two stores of `latchkey copy` and `move`: by its name, or another vault by its path or URI.
struct TransferEnd {
    let backend: StoreBackend
    /// Whether it is a vault that no other command would use.
    let isOtherVault: Bool
    private let settings: StoreSettings

    init(_ option: CommandOption, _ arguments: ParsedArguments, _ context: CommandContext) throws {
        let name = arguments.value(option) ?? ""
        var settings = context.settings
        // Nothing is to be deleted on the word of a damaged vault.
        settings.vaultItemCheck = .always
        // A store's name doesn't contain a slash, and addresses aren't shown.
        let isVault = name.contains("/") || VaultLocation.isDatabase(name)
        let location = isVault ? try VaultLocation.checked(name) : settings.vaultPath
        isOtherVault = location != settings.vaultPath
        if isOtherVault {
            settings.vaultPath = location
            settings.places["vault"] = location
            var search = context.searchForKey(ofVaultAt: location)
            if case .keyFile(let path) = context.settings.vaultKey { search.otherKeyFile = path }
            settings.vaultKey = .search(search)
        }
        self.settings = settings
        let store = isVault ? "vault" : name
        try context.selector.catalogue.check(
            store, namedBy: option.name, otherwise: "a vault's path has a slash, such as ./vault")
        // As for every chosen store: only persistent ones.
        backend = try context.selector.backend(NamedStore(name: store, source: .argument))
    }

    /// The option with which other commands use this store.
    var option: LogMessage {
        isOtherVault ? "--vault \(CredentialName.word(settings.vaultPath))" : "--store \(backend.name)"
    }

    func open() async throws -> any CredentialStore {
        try await mapError(
            // The hint names this vault, not the one that other commands use.
            { (error: StoreError) -> any Error in isOtherVault ? settings.explained(error as any Error) : error },
            awaiting: try await backend.open(settings))
    }

    func isSame(as other: TransferEnd) -> Bool {
        backend.name.description == other.backend.name.description && settings.vaultPath == other.settings.vaultPath
    }

    var path: String { settings.vaultPath }

    var shownPath: LoggableText {
        LoggableText(reviewed: "the path of a vault, which people name", unredacted: path)
    }
}

extension CommandContext {
    /// The search for the key of a second vault. The caller adds the key file of the vault in use.
    fileprivate func searchForKey(ofVaultAt path: String) -> VaultKeySearch {
        let prompt = prompt
        let shown = LoggableText(reviewed: "the path of a vault, which people name", unredacted: path)
        return VaultKeySearch(
            credentialsDirectory: environment["CREDENTIALS_DIRECTORY"], keyFiles: RememberedKeyFiles(environment)
        ) { (attempt) throws(StoreError) in
            try prompt.askForPassphrase(
                "Passphrase of \(shown)", attempt: attempt,
                otherwise: "open it before with `latchkey vault unlock --vault \(CredentialName.word(path))`")
        }
    }
}
