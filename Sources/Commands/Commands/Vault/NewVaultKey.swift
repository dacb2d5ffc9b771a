internal import Glibc
internal import LatchkeyVault

/// The key of a new vault or key slot, made or asked for.
struct NewVaultKey: ~Copyable {
    let source: VaultKeySource
    /// The created key, which is deleted if it is certain that its slot wasn't created.
    private let made: Made

    private enum Made: Sendable {
        case nothing
        case file(String)
        case item(VaultKeyring, KeySlotReference)
    }

    static let keyFile = CommandOption.value(
        "--key-file", "PATH", help: "file with the new key; created if it doesn't exist")
    static let passphrase = CommandOption.value(
        "--new-passphrase-fd", "N", form: .descriptor, help: "file descriptor to read the new passphrase from")
    static let credential = CommandOption.value(
        "--credential", "NAME", help: "name of a systemd credential that opens the vault")
    static let secretService = CommandOption.flag(
        "--secret-service", help: "store a key that opens the vault in the desktop's keyring")

    static var options: [CommandOption] { [keyFile, passphrase, credential, secretService] }

    /// Throws the errors of using the chosen key, before the question for another key. Creates nothing.
    static func check(_ arguments: ParsedArguments, _ environment: ProgramEnvironment) throws {
        if let path = arguments.value(keyFile) { try VaultKeyFile.check(at: AbsolutePath.of(path)) }
        if let name = arguments.value(credential) { _ = try NewVaultKey(credential: name, environment) }
    }

    /// Takes the key that an option chooses, or asks for a passphrase.
    ///
    /// - Parameters:
    ///   - descriptor: that of `passphrase`.
    ///   - slot: what a key in the desktop's keyring is for.
    ///   - vault: the open vault that it is for, or that is exported.
    init(
        _ arguments: ParsedArguments, reading descriptor: PassedDescriptor?, asking question: LogMessage,
        for slot: @autoclosure () throws(StoreError) -> KeySlotReference, ofVaultAt path: String, _ vault: VaultStore,
        _ context: CommandContext
    ) async throws {
        if let file = arguments.value(Self.keyFile) {
            self = try NewVaultKey(keyFile: AbsolutePath.of(file))
        } else if let name = arguments.value(Self.credential) {
            self = try NewVaultKey(credential: name, context.environment)
        } else if arguments.has(Self.secretService) {
            self = try await NewVaultKey(keptFor: try slot(), ofVaultAt: path, besides: vault, context.settings)
        } else if let descriptor {
            self = try NewVaultKey(reading: .passphraseDescriptor(descriptor.number), deadline: context.deadline)
        } else {
            self = try NewVaultKey(asking: context.prompt, question)
        }
    }

    /// Takes a key file, which is made when it is missing.
    ///
    /// A lock on the file, held until this process ends, keeps a command that fails from deleting the key file that
    /// another command uses too. Throws `busy` while another one has made the file and hasn't ended.
    init(keyFile path: String) throws(StoreError) {
        let isNew = unsafe access(path, F_OK) != 0
        if isNew { try VaultKeyFile.create(at: path) }
        let descriptor = unsafe open(path, (isNew ? O_RDWR : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)
        let number = descriptor >= 0 ? FileLock.take(descriptor, isShared: !isNew) : errno
        // Any other number means a file system without locks, or a file that can't be opened, which is reported later.
        // If the file is empty, another command is about to write it.
        let isEmpty = descriptor >= 0 && (try? FileStatus.of(descriptor: descriptor))?.byteCount == 0
        if !isNew && descriptor >= 0 && (number == EAGAIN || number == EACCES || isEmpty) {
            let shown = LoggableText(reviewed: "the path of a key file", unredacted: path)
            throw StoreError(
                .busy, "another command has just made the key file \(shown)",
                hint: "try again, or choose another key file")
        }
        made = isNew && number == 0 ? .file(path) : .nothing
        source = .keyFile(path)
    }

    /// Takes a credential that systemd passes to this process.
    init(credential text: String, _ environment: ProgramEnvironment) throws {
        guard let name = SystemCredentialName(text) else {
            throw CommandFailure(
                .usage, "credential.bad-name", "not a valid name of a systemd credential",
                hint: "use the NAME of LoadCredentialEncrypted=NAME:FILE, without a path")
        }
        guard let directory = environment["CREDENTIALS_DIRECTORY"] else {
            throw StoreError(
                .locked, "systemd passes no credentials to this process: CREDENTIALS_DIRECTORY isn't set",
                hint: "run the command in a unit: systemd-run -P -p LoadCredentialEncrypted=\(name):FILE latchkey …")
        }
        source = .systemCredential(SystemCredential(name: name, directory: directory))
        made = .nothing
    }

    /// Reads the passphrase from where `key` says.
    init(reading key: StoreSettings.VaultKey, deadline: Deadline) throws(StoreError) {
        source = try key.source(deadline: deadline)
        made = .nothing
    }

    /// Asks for a passphrase, twice. Proposes a generated passphrase instead of a short one; the short one needs
    /// consent.
    ///
    /// - Parameter otherwise: the way to pass the passphrase without a question, for the hint.
    init(
        asking prompt: SecretPrompt, _ question: LogMessage, otherwise: LogMessage = "add --new-passphrase-fd"
    ) throws {
        var passphrase = try Self.ask(prompt, question, otherwise)
        while try passphrase.byteCount < Self.minimumByteCount && !Self.confirmsShort(prompt) {
            passphrase = try Self.ask(prompt, question, otherwise)
        }
        guard try prompt.ask("Repeat it", as: Passphrase.self).matches(passphrase) else {
            throw PromptError(problem: .different, question: question)
        }
        source = .passphrase(passphrase)
        made = .nothing
    }

    private static func ask(
        _ prompt: SecretPrompt, _ question: LogMessage, _ otherwise: LogMessage
    ) throws -> Secret<Passphrase> {
        let passphrase = try mapError(
            { (error: PromptError) in CommandFailure(error, otherwise: otherwise) },
            of: prompt.ask(question, as: Passphrase.self))
        guard !passphrase.isEmpty else {
            throw CommandFailure(
                .badData, "passphrase.empty", "the passphrase is empty", hint: "choose a longer passphrase")
        }
        return passphrase
    }

    /// NIST SP 800-63B-4 section 3.1.1.2, for what is the only factor.
    private static let minimumByteCount = 15

    private static func confirmsShort(_ prompt: SecretPrompt) throws -> Bool {
        try prompt.show(
            "A passphrase with fewer than \(minimumByteCount) characters is easy to guess. Consider this one:")
        var screen = try prompt.screen(indentedBy: 2)
        try SecretGenerator.words(5).pour(into: &screen)
        // A person who expects to repeat the passphrase types it here.
        return try prompt.confirm("Use the short one anyway?", isShown: false)
    }

    /// Makes a key and puts it into the desktop's keyring.
    init(
        keptFor slot: KeySlotReference, ofVaultAt path: String, besides vault: VaultStore? = nil,
        _ settings: StoreSettings
    ) async throws(StoreError) {
        let keyring = VaultKeyring(settings)
        source = try await keyring.makeKey(for: slot, ofVaultAt: path, vault)
        made = .item(keyring, slot)
    }

    /// Deletes the key again after an error, because it could be mistaken for the key of another vault. A key that may
    /// be the only one of its vault stays: a disk or a database can lose the answer of a change that was made.
    borrowing func discard(ifUnneeded isUnneeded: Bool, ofVaultAt vault: String, _ output: TerminalOutput) async {
        let hint: LogMessage = "run `latchkey vault slots --vault \(CredentialName.word(vault))` to see the slots"
        switch made {
        case .nothing: break
        case .file(let path):
            if isUnneeded {
                unsafe unlink(path)
            } else {
                let shown = LoggableText(reviewed: "the path of a key file", unredacted: path)
                output.warn("keep the key file \(shown): the vault may need it", hint: hint)
            }
        case .item(let keyring, let slot):
            if isUnneeded {
                // Left behind it opens nothing.
                _ = try? await keyring.forget(slot)
            } else {
                output.warn("the new key in the desktop's keyring stays there: the vault may need it", hint: hint)
            }
        }
    }

    borrowing func announce(on output: TerminalOutput) {
        switch made {
        case .nothing: break
        case .file(let path):
            output.note("created the key file \(LoggableText(reviewed: "the path of a key file", unredacted: path))")
        case .item: output.note("stored a key in the desktop's keyring")
        }
    }
}

extension StoreError {
    /// Whether it leaves no doubt that nothing was changed, if nothing is seen to be changed: a database may still be
    /// about to commit.
    var isRefusal: Bool { code != .timedOut && code != .cancelled }
}

extension ParsedArguments {
    /// Refuses a command line with more than one of these options.
    func refuseTwo(of options: [CommandOption], _ what: StaticString) throws(CommandFailure) {
        let given = options.filter(has)
        guard given.count > 1 else { return }
        throw CommandFailure(
            .usage, "slot.contradiction", "\(given[0].name) and \(given[1].name) set two \(what)",
            hint: "remove one of the options")
    }
}

extension CommandContext {
    /// Whether there is nothing at the path of the vault, or only empty tables.
    var lacksVault: Bool {
        get async throws {
            if VaultLocation.isDatabase(settings.vaultPath) {
                let error = await failure(
                    StoreError.self, awaiting: try await settings.lockedVault())
                return error?.recoveries.contains(.createVault) ?? false
            }
            var status = stat()
            return unsafe lstat(settings.vaultPath, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
        }
    }

    /// The key of a new vault: a file, the key in the settings, or a passphrase from a question.
    ///
    /// - Parameter otherwise: the way to pass a key without a question, for the hint.
    func keyOfNewVault(
        file: String?, otherwise: LogMessage = "set LATCHKEY_PASSPHRASE_FILE to the path of a passphrase file"
    ) throws -> NewVaultKey {
        if let file {
            // The usual place of a key file is a folder that nothing else may have made yet.
            if file.hasPrefix(configurationFolder + "/") { try? PrivateDirectory.make(configurationFolder) }
            return try NewVaultKey(keyFile: file)
        }
        switch settings.vaultKey {
        case .keyFile(let path): return try NewVaultKey(keyFile: path)
        case .search:
            return try NewVaultKey(
                asking: prompt, "New passphrase of the vault",
                otherwise: otherwise)
        default: return try NewVaultKey(reading: settings.vaultKey, deadline: deadline)
        }
    }

    /// Creates the vault, and reports it.
    ///
    /// - Parameter keyFile: the key file, which is remembered if no setting contains it.
    func createVault(unlockedBy key: consuming NewVaultKey, remembering keyFile: String?) async throws -> VaultStore {
        let vault: VaultStore
        do throws(StoreError) {
            vault = try await VaultStore.create(
                at: settings.vaultPath, unlockedBy: key.source, memory: settings.vaultMemory, deadline: deadline)
        } catch {
            // A conflict is another vault's.
            let isAbsent = (try? await lacksVault) == true
            await key.discard(
                ifUnneeded: error.code == .conflict || error.isRefusal && isAbsent, ofVaultAt: settings.vaultPath,
                output)
            throw error
        }
        key.announce(on: output)
        output.note("created the vault \(shown(settings.vaultPath))")
        if let keyFile { remember(keyFile, for: vault) }
        return vault
    }

    /// Forgets the remembered key files that no longer open the vault, unless none does and no key is set. One that
    /// isn't there now may be on a disk that is.
    func forgetKeyFiles(of vault: VaultStore) async {
        let known = RememberedKeyFiles(environment)
        let files = known.paths(forVault: vault.identifier)
        var rest: [String] = []
        for file in files {
            let error = await failure(
                StoreError.self,
                awaiting: try await VaultStore.open(
                    at: settings.vaultPath, unlockedBy: .keyFile(file), itemCheck: .never, deadline: deadline))
            if error?.code != .wrongKey { rest.append(file) }
        }
        if rest.count == files.count { return }
        if rest.isEmpty, setKey == nil {
            output.warn(
                "the key file that Latchkey remembers no longer opens the vault",
                hint: "name another one: latchkey config set key-file PATH")
        } else {
            try? known.replace(with: rest, for: vault)
        }
    }

    /// The next command finds the key file by itself, or its person learns how to name it.
    func remember(_ file: String, for vault: VaultStore) {
        do throws(StoreError) {
            try RememberedKeyFiles(environment).remember(file, for: vault)
            output.note(
                setKey.map { $0 == file } ?? true
                    ? "remembered the key file: later commands open the vault with it"
                    : "remembered the key file; as long as another key is set, commands use that one")
        } catch {
            output.warn(
                "\(error)",
                hint: "run `latchkey config set key-file \(CredentialName.word(file))`")
        }
    }

    /// The path of the key file or passphrase file that the environment or the configuration sets.
    private var setKey: String? {
        switch settings.vaultKey {
        case .keyFile(let path), .passphraseFile(let path): path
        default: nil
        }
    }

    private func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file", unredacted: path)
    }
}
