internal import LatchkeyDBus
package import LatchkeyKeyringService
internal import LatchkeyVault
internal import Synchronization

/// `latchkey keyring serve`: the vault as the keyring of the session bus.
enum ServeCommand {
    private static let replace = CommandOption.flag(
        "--replace", help: "replace a running keyring, if that keyring allows it")
    static let command = Command(
        "keyring", "serve", summary: "serve the vault as the desktop's keyring until a signal stops it",
        options: [replace],
        details: """
            Programs that use the Secret Service (secret-tool, gh, Chromium, Python keyring, the helpers of git and docker) then store
            their secrets in the vault. Every program on your session bus can read and change them. Sessions and keys of Latchkey are
            never served.

            If the vault opens without a question, it is open at once. Otherwise serve asks for the passphrase at a terminal; without a
            terminal, the keyring is locked until `latchkey vault unlock`. Keys stored in a keyring are ignored: this may be that
            keyring. Once open, the keyring stays open until a program locks it or serve ends.

            --log-level info logs which program read which item.
            """,
        examples: ["latchkey keyring serve", "latchkey keyring serve --replace --log-level info"],
        runs: { _ in .service }
    ) { arguments, context in
        try context.requireVault()
        guard let address = context.sessionBus else { throw CommandFailure.noBus }
        // No other keyring is replaced by one that has nothing to serve.
        try VaultStore.probe(at: context.settings.vaultPath)
        // The service starts before any question, because the program that answers it may wait for this keyring.
        let source = VaultSource(context, scope: nil)
        let service = try await context.startService(source, at: address)
        if let owner = try await context.bus({ () async throws(BusFault) in
            try await service.own(replacing: arguments.has(replace))
        }) {
            service.stop()
            throw CommandFailure(
                .refused, "keyring.owned", "\(owner) already serves the keyring on this bus",
                hint: arguments.has(replace)
                    ? "end that program, which doesn't allow to be replaced"
                    : "end that program, or add --replace if it allows to be replaced")
        }
        // For sandboxed applications. The keyring works without it.
        _ = try? await service.own(KeyringUnits.portalName, replacing: true)
        context.output.note("serving \(context.shownVault) as the keyring of this session")
        // A signal ends the service as at any other time.
        let isOpen = try await nilIf(
            { (error: StoreError) in error.code == .cancelled && Task.isCancelled },
            awaiting: try await source.openAsking())
        if isOpen == false {
            context.output.note("the vault stays locked; to unlock it, run `latchkey vault unlock`")
        }
        return try await context.end(of: service)
    }
}

extension CommandContext {
    /// Throws if the command line has another store, because only the vault can be served.
    func requireVault() throws(CommandFailure) {
        guard let named = namedStore, named.source == .argument, named.name != "vault" else { return }
        throw CommandFailure(
            .usage, "usage.not-a-vault", "only a vault can be served as a keyring",
            hint: "remove --store; to serve another vault, use --vault")
    }

    var shownVault: LoggableText {
        LoggableText(reviewed: "the path of a vault, which people name", unredacted: settings.vaultPath)
    }

    /// As in DBUS_SESSION_BUS_ADDRESS, or where a user's bus is if no variable says so (sd_bus_default_user(3)).
    var sessionBus: String? {
        environment["DBUS_SESSION_BUS_ADDRESS"] ?? environment.runtimeDirectory.map { "unix:path=\($0)/bus" }
    }

    func startService(_ source: VaultSource, at address: String) async throws -> KeyringService {
        var configuration = KeyringConfiguration(source)
        configuration.place = settings.vaultPath
        configuration.observer = ReadLog(logger: logger.category("latchkey.keyring"))
        let (settings, output) = (settings, output)
        configuration.words = { error in
            let explained = settings.explained(error)
            let hint = (explained as? any RedactedError)?.hint
            return ([error.cause] + (hint.map { [$0] } ?? [])).map(output.words(of:)).joined(separator: ": ")
        }
        return try await bus { () async throws(BusFault) in try await KeyringService.start(configuration, at: address) }
    }

    /// Waits until the service ends, and reports an unexpected end.
    func end(of service: KeyringService) async throws -> ExitStatus {
        let end = await withTaskCancellationHandler {
            await service.waitForEnd()
        } onCancel: {
            service.stop()
        }
        switch end {
        case .stopped: return .success
        case .busLost:
            throw CommandFailure(
                .unavailable, "keyring.bus-lost", "the session bus has ended",
                hint: "run the command again once a bus is there")
        case .nameLost:
            throw CommandFailure(
                .refused, "keyring.replaced", "another program took over the keyring's name",
                hint: "see which program: latchkey keyring status")
        }
    }

    /// Does something on the bus, and says in our words what it refused.
    func bus<Result>(_ body: () async throws(BusFault) -> Result) async throws -> Result {
        try await mappingError(
            { (error: BusFault) in
                if error.isOfGLib { return CommandFailure.noBus }
                if let failure = error.library {
                    return CommandFailure(.unavailable, "keyring.no-glib", failure.cause, hint: failure.hint)
                }
                let reason = LoggableText(
                    reviewed: "our words, or the name of a D-Bus error",
                    unredacted: error.text.isEmpty ? error.name : error.text)
                return CommandFailure(
                    .unavailable, "keyring.bus-refused", "the session bus refused: \(reason)",
                    hint: "check that the bus is running and belongs to you")
            }, body)
    }
}

extension CommandFailure {
    static var noBus: CommandFailure {
        CommandFailure(
            .unavailable, "keyring.no-bus", "no session bus to connect to",
            hint: "start a program with its own bus: latchkey keyring run -- COMMAND")
    }
}

/// Logs which program has read which item (`--log-level info`). It informs, but never refuses.
struct ReadLog: ReadObserver {
    let logger: RedactedLogger

    func didRead(_ item: Item, by client: KeyringClient) {
        let label = LoggableText(reviewed: "labels are what keyring applications show", unredacted: item.label)
        logger.info("\(label) was read by \(client)")
    }

    func didRefuse(_ client: KeyringClient) {
        logger.warning("\(client) got an error, because the vault is locked")
    }
}

extension KeyringClient: Loggable {
    /// Safe: a program, its unit and its process, which all users of the machine can see.
    package var logMessage: LogMessage { named(unit ?? executable ?? uniqueName, processID) }
}

extension BusNameOwner: Loggable {
    /// Safe, as a client is.
    package var logMessage: LogMessage { named(executable ?? uniqueName, processID) }
}

/// A program with its process.
func named(_ name: String, _ processID: UInt32?) -> LogMessage {
    let name = LoggableText(reviewed: "the unit or path of a program, as any listing shows it", unredacted: name)
    return processID.map { "\(name) (process \(Int($0)))" } ?? "\(name)"
}

/// The vault whose items are served.
final class VaultSource: KeyringSource {
    private let settings: StoreSettings
    /// Without a descriptor that was read.
    private let later: StoreSettings
    private let scope: ItemScope?
    /// The vault, if it was opened in advance.
    private let opened: Mutex<VaultStore?>

    /// - Parameters:
    ///   - scope: the items to serve; `nil` for all.
    ///   - opened: the vault, if it was opened in advance with the person's passphrase.
    init(_ context: CommandContext, scope: ItemScope?, opened: VaultStore? = nil) {
        settings = context.settings.askingNoKeyring
        var later = settings
        if case .passphraseDescriptor = later.vaultKey {
            let keyFiles = RememberedKeyFiles(context.environment)
            later.vaultKey = .search(
                VaultKeySearch(
                    credentialsDirectory: context.environment["CREDENTIALS_DIRECTORY"], keyFiles: keyFiles))
        }
        self.later = later.askingNoKeyring.askingNobody
        self.scope = scope
        self.opened = Mutex(opened)
    }

    /// Opens the vault with a person's help, where there is one. Returns `false` for a vault that stays locked, which is
    /// served as that.
    func openAsking() async throws(StoreError) -> Bool {
        let vault = try await nilIf(
            { (error: StoreError) in [.locked, .promptDismissed].contains(error.code) },
            awaiting: try await settings.openVault())
        opened.withLock { $0 = vault }
        return vault != nil
    }

    func open(deadline: Deadline) async throws(StoreError) -> ServedItems {
        if let vault = opened.withLock({ $0 }) { return items(of: vault) }
        return try await mapError(
            { (error: StoreError) in
                error.code == .locked && error.hint == nil
                    ? StoreError(.locked, "the vault is locked", hint: "\(Recovery.unlockVault)") : error
            }, awaiting: items(of: try await later.openVault()))
    }

    func open(
        with passphrase: borrowing Secret<Passphrase>, deadline: Deadline
    ) async throws(StoreError) -> ServedItems {
        items(
            of: try await VaultStore.open(
                at: settings.vaultPath, unlockedBy: .passphrase(passphrase.duplicate()), memory: settings.vaultMemory,
                itemCheck: settings.vaultItemCheck, deadline: deadline))
    }

    func close() async -> Bool {
        // A key that is there for all to open it with makes a lock a matter of form.
        opened.withLock { $0 = nil }
        return (try? await later.openVault()) == nil
    }

    private func items(of vault: VaultStore) -> ServedItems {
        ServedItems(vault, scope: scope)
    }
}

extension StoreSettings {
    /// Settings that don't look for the vault's key in a keyring. That keyring may be the one to be served.
    var askingNoKeyring: StoreSettings {
        var settings = self
        if case .search(var search) = vaultKey {
            search.asksKeyring = false
            settings.vaultKey = .search(search)
        }
        return settings
    }
}
