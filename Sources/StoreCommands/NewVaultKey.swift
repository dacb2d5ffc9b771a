internal import Credentials
internal import Glibc
internal import RedactedLog
internal import Secrets
internal import StoreSelection
internal import Terminal
internal import Vault

/// The key of a new vault or key slot, made or asked for.
struct NewVaultKey: ~Copyable {
    let source: VaultKeySource
    /// The key file, when it was made for this.
    let madeFile: String?

    static let credential = CommandOption.value(
        "--credential", "NAME", help: "open it with this credential, which systemd passes to its unit")

    /// Takes a key file, which is made when it is missing.
    init(keyFile path: String) throws(StoreError) {
        if unsafe access(path, F_OK) != 0 {
            try VaultKeyFile.create(at: path)
            madeFile = path
        } else {
            madeFile = nil
        }
        source = .keyFile(path)
    }

    /// Takes a credential that systemd passes to this process.
    init(credential text: String, _ environment: ProgramEnvironment) throws {
        guard let name = SystemCredentialName(text) else {
            throw CommandFailure(
                .usage, "credential.bad-name", "this can't be the name of a credential from systemd",
                hint: "give the name in LoadCredentialEncrypted=NAME:FILE, without a path")
        }
        guard let directory = environment["CREDENTIALS_DIRECTORY"] else {
            throw StoreError(
                .locked, "systemd passes no credentials to this process: CREDENTIALS_DIRECTORY is not set",
                hint: "run it in a unit, as in: systemd-run -P -p LoadCredentialEncrypted=\(name):FILE latchkey …")
        }
        source = .systemCredential(SystemCredential(name: name, directory: directory))
        madeFile = nil
    }

    /// Reads the passphrase from where `key` says.
    init(reading key: StoreSettings.VaultKey) throws(StoreError) {
        source = try key.source()
        madeFile = nil
    }

    /// Asks for a passphrase, twice.
    init(asking prompt: SecretPrompt, _ question: LogMessage) throws {
        let passphrase = try prompt.askTwice(question, again: "The same again", as: Passphrase.self)
        guard !passphrase.isEmpty else {
            throw CommandFailure(.badData, "passphrase.empty", "the passphrase is empty", hint: "choose a longer one")
        }
        source = .passphrase(passphrase)
        madeFile = nil
    }

    /// Takes the key file away again: without its vault it would only be taken for the key of another.
    borrowing func discard() {
        if let madeFile { unsafe unlink(madeFile) }
    }

    borrowing func announce(on output: TerminalOutput) {
        guard let madeFile else { return }
        output.note("made the key file \(LoggableText(reviewed: "the path of a key file", unredacted: madeFile))")
    }
}

extension ParsedArguments {
    /// Refuses a command line with more than one of these options.
    func refuseTwo(of options: [CommandOption], _ what: StaticString) throws(CommandFailure) {
        let given = options.filter(has)
        guard given.count > 1 else { return }
        throw CommandFailure(
            .usage, "slot.contradiction", "\(given[0].name) and \(given[1].name) name two \(what)",
            hint: "leave one of them out")
    }
}
