internal import LatchkeySecretService

/// `latchkey import SOURCE [FILE]`.
enum ImportCommand {
    private static let from = CommandOption.value(
        "--from", "SOURCE",
        form: .choice([
            "git", "gcm", "docker", "cargo", "netrc", "pypirc", "gh", "python-keyring", "libsecret-file",
            "gnome-keyring-collection",
        ]),
        help: "same as the operand SOURCE")
    static let emptySource = CommandOption.flag(
        "--empty-source", help: "remove the imported secrets from the plain-text file (git to pypirc)")
    static let items = CommandOption.flag(
        "--items", help: "gnome-keyring-collection: import every item into a vault unchanged, with all attributes")
    private static let passphraseDescriptor = CommandOption.value(
        "--import-passphrase-fd", "N", form: .descriptor,
        help: "file descriptor, 3 or above, to read the passphrase of libsecret's file from")

    static let command = Command(
        "import", topic: .stores,
        summary: "import the secrets that another program stores",
        operands: [
            .optional("SOURCE", help: "program to import from: one of those below"),
            .optional("FILE", help: "the program's file (default: its usual path), or the collection's name"),
        ],
        options: [
            from, passphraseDescriptor, TransferCommand.replace, TransferCommand.dryRun, emptySource, items,
        ],
        details: """
              git                       git credential-store's file: ~/.git-credentials, or ~/.config/git/credentials if that is empty
              gcm                       Git Credential Manager's secrets, in the keyring and in its plain-text store
              docker                    logins in config.json and in the keyring; FILE may be podman's auth.json
              cargo                     tokens in credentials or credentials.toml, and in the keyring
              netrc                     logins in .netrc, for git and Go
              pypirc                    passwords in .pypirc, for twine
              gh                        hosts.yml of GitHub's command line
              python-keyring            the plain-text file of keyrings.alt
              libsecret-file            the encrypted file of libsecret and oo7; import asks for its passphrase
              gnome-keyring-collection  secrets of git, Git Credential Manager, docker and cargo in a collection

            import copies the secrets to the store in use and verifies each copy. The source isn't changed. With FILE, gcm,
            docker and cargo don't read the keyring. Secrets are stored under gh:HOST, docker:URL, cargo:URL with the
            account token, or git:URL (for git, gcm and netrc).

            --empty-source then removes the secrets from the plain-text file, and nothing else. For gcm the files are
            deleted; items in the keyring stay. The file isn't changed if import skipped an entry, or if another program
            changed the file. The disk keeps the old content until it is overwritten.

            Exits with 1 if there is nothing to import, 73 if the store has another secret for an entry (unless you add
            --replace) or the file can't be written, 77 if the secrets are still in the file.
            """,
        examples: [
            "latchkey import git --dry-run", "latchkey import gh", "latchkey import docker --empty-source",
            "latchkey import netrc ~/old/.netrc", "latchkey import gnome-keyring-collection Login",
            "latchkey import gnome-keyring-collection Login --items",
        ]
    ) { arguments, context in
        let (source, file) = try source(arguments)
        let emptying = try SourceEmptying(source, arguments)
        if arguments.has(passphraseDescriptor), source != .libsecretFile {
            throw CommandFailure(
                .usage, "usage.bad-value", "\(passphraseDescriptor.name) is not for \(source.name)",
                hint: "use it with libsecret-file alone")
        }
        if arguments.has(items) { return try await importItems(of: source, file, arguments, context) }
        // Asks for the source's passphrase before the store asks for its own.
        let read = try await source.read(file, arguments, context)
        let keys = try await read.store.list(deadline: context.deadline).all().map(\.key)
            .sorted { $0.isListed(before: $1) }
        if read.skippedCount > 0 {
            let more: LogMessage = read.unnamedCount > 0 ? "; and \(read.unnamedCount) more" : ""
            let which: LogMessage =
                read.skippedNames.isEmpty
                ? "" : ": \(LogMessage.joined(read.skippedNames, separator: "; "))\(more)"
            let what = LogMessage.counted(read.skippedCount, "entry", "entries")
            context.output.note("skipped \(what)\(which)")
        }
        guard !keys.isEmpty else {
            throw CommandFailure(
                .notFound, "credential.not-found", "nothing to import",
                hint: file == nil
                    ? "pass the file's path: latchkey import \(source.name) FILE"
                    : "make sure that \(source.name) uses this file, and that it contains secrets")
        }
        let transfer = Transfer(
            from: read.store, to: try await context.openStoreToCopyInto(), mode: .copy,
            replaces: arguments.has(TransferCommand.replace))
        let isRehearsal = arguments.has(TransferCommand.dryRun)
        let run = TransferRun(
            transfer: transfer, work: "importing", isRehearsal: isRehearsal,
            showsJSON: arguments.has(GlobalOptions.json))
        let status: ExitStatus
        do {
            status = try await run.run(keys, context)
        } catch {
            emptying?.tellKept(read, context)
            throw error
        }
        if let emptying {
            try await emptying.run(read, isRehearsal: isRehearsal, context)
        } else if !isRehearsal, !read.files.isEmpty {
            context.output.note("the file still contains the secrets in plain text; --empty-source removes them")
        } else if !isRehearsal, source.isInClear {
            context.output.note("the file still contains the secrets in plain text; remove it when no program needs it")
        }
        return status
    }

    /// The source and the file: SOURCE and FILE, or --from and FILE.
    private static func source(_ arguments: ParsedArguments) throws(CommandFailure) -> (Source, file: String?) {
        var words = ["SOURCE", "FILE"].compactMap(arguments.optionalOperand)
        let name = arguments.value(from) ?? (words.isEmpty ? nil : words.removeFirst())
        guard let name else {
            throw CommandFailure(.usage, "usage.missing-operand", "SOURCE is missing", hint: sources)
        }
        guard let source = Source(rawValue: name) else {
            throw CommandFailure(.usage, "usage.bad-value", "SOURCE isn't a program to import from", hint: sources)
        }
        // FILE may be the name of a collection, which may be that of a program too.
        let isSetTwice =
            arguments.value(from) != nil && source != .collection && words.first.flatMap(Source.init) != nil
        guard words.count < 2, !isSetTwice else {
            throw CommandFailure(
                .usage, "usage.too-many-operands", "SOURCE is set twice, as an operand and by --from",
                hint: "remove --from; write the path of a file with a slash, such as ./netrc")
        }
        return (source, words.first)
    }

    private static var sources: LogMessage {
        "usage: latchkey import SOURCE [FILE], with SOURCE one of \(LogMessage.joined(Source.allCases.map { "\($0.name)" }))"
    }

    enum Source: String, CaseIterable {
        case git
        case gcm
        case docker
        case cargo
        case netrc
        case pypirc
        case gh
        case pythonKeyring = "python-keyring"
        case libsecretFile = "libsecret-file"
        case collection = "gnome-keyring-collection"

        /// The source's name for --from.
        var name: LoggableText { LoggableText(reviewed: "a word of the program", unredacted: rawValue) }

        /// Whether the source's file has the secrets in plain text and keeps them.
        var isInClear: Bool { self == .gh || self == .pythonKeyring }

        /// Which tools a set-up has ask for what the source has.
        var tools: [StaticString] {
            switch self {
            case .git, .gcm: ["git"]
            case .docker: ["docker", "podman"]
            case .cargo: ["cargo"]
            default: []
            }
        }

        func read(
            _ file: String?, _ arguments: ParsedArguments, _ context: CommandContext
        ) async throws -> CredentialImport {
            let path = AbsolutePath.of(file ?? usualPath(context.environment))
            do {
                switch self {
                case .git: return try await GitCredentials.read(path)
                case .netrc: return try await NetrcLogins.read(path)
                case .pypirc: return try await PyPILogins.read(path)
                case .gcm, .docker, .cargo: return try await withKeyring(path, isNamed: file != nil, context)
                case .gh: return try await GitHubHosts.read(path)
                case .pythonKeyring: return try await PythonKeyringFile.read(path)
                case .libsecretFile:
                    return try await LibsecretFile.read(path) { try passphrase(arguments, context) }
                case .collection: return try await collection(file, context)
                }
            } catch let error as ImportError {
                guard case .unreadable(let number) = error.problem else { throw error }
                let shown = LoggableText(reviewed: "the path of a file to import", unredacted: path)
                throw CommandFailure(
                    error, "can't read \"\(shown)\": \(SystemErrorNumber(number))",
                    hint: "pass the file's path: latchkey import \(name) FILE")
            }
        }

        private func usualPath(_ environment: ProgramEnvironment) -> String {
            let home = environment.home
            return switch self {
            case .git:
                filled(home + "/.git-credentials", environment.configurationHome + "/git/credentials")
                    ?? home + "/.git-credentials"
            case .netrc: environment["NETRC"] ?? home + "/.netrc"
            case .pypirc: home + "/.pypirc"
            case .gcm: environment["GCM_PLAINTEXT_STORE_PATH"] ?? home + "/.gcm/store"
            case .docker: (environment["DOCKER_CONFIG"] ?? home + "/.docker") + "/config.json"
            // cargo reads the file without an ending if both exist.
            case .cargo:
                filled((environment["CARGO_HOME"] ?? home + "/.cargo") + "/credentials")
                    ?? (environment["CARGO_HOME"] ?? home + "/.cargo") + "/credentials.toml"
            case .gh: (environment["GH_CONFIG_DIR"] ?? environment.configurationHome + "/gh") + "/hosts.yml"
            case .pythonKeyring: environment.dataHome + "/python_keyring/keyring_pass.cfg"
            case .libsecretFile: environment.dataHome + "/keyrings/default.keyring"
            case .collection: "/"
            }
        }

        /// The first that has content: one that was emptied hides no other.
        private func filled(_ paths: String...) -> String? {
            paths.first { ((try? FileStatus.of($0))?.byteCount ?? 0) > 0 }
        }

        private func passphrase(
            _ arguments: ParsedArguments, _ context: CommandContext
        ) throws -> Secret<Passphrase> {
            if let descriptor = try arguments.passedDescriptor(ImportCommand.passphraseDescriptor) {
                return try PassphraseFile.read(descriptor: descriptor.number, deadline: context.deadline)
            }
            return try context.prompt.askForPassphrase(
                "Passphrase of the file to import", locked: "the file to import is encrypted",
                otherwise: "add \(ImportCommand.passphraseDescriptor.name) N")
        }

        /// Everything in a collection: what is the store's own goes before what another program calls the same.
        private func collection(_ name: String?, _ context: CommandContext) async throws -> CredentialImport {
            let collection = try keyringCollection(name, context)
            var read = try CredentialImport()
            let store = read.store
            let skipped = try await collection.copyForeign(to: store, compares: true, deadline: context.deadline)
            var differing = Set(skipped.differing)
            let own = Transfer(from: collection, to: store, mode: .copy, replaces: true)
            for entry in try await collection.list(deadline: context.deadline).all()
            where !VaultKeyring.isVaultKey(entry.key) {
                if try await own.transfer(entry.key, deadline: context.deadline) == .replaced {
                    differing.insert(entry.key)
                }
            }
            // Keyrings hold several items under one name.
            for duplicate in try await collection.duplicates(deadline: context.deadline)
            where !VaultKeyring.isVaultKey(duplicate.key) {
                guard let kept = try await store.read(duplicate.key, as: Password.self) else { continue }
                for item in duplicate.items {
                    let other = try await collection.read(item.id, as: Password.self, deadline: context.deadline)
                    if let other, !other.secret.matches(kept.secret) { differing.insert(duplicate.key) }
                }
            }
            for key in differing.sorted(by: { $0.isListed(before: $1) }) {
                read.skip("\(key), of which another secret was imported")
            }
            if skipped.unknownCount > 0 {
                let shapeless = LogMessage.counted(skipped.unknownCount, "item", "items")
                read.skip(skipped.unknownCount, as: "\(shapeless) of other programs; --items takes these too")
            }
            return read
        }

        func keyringCollection(_ name: String?, _ context: CommandContext) throws -> SecretServiceStore {
            guard let name else {
                throw CommandFailure(
                    .usage, "usage.missing-operand", "the collection is missing",
                    hint: "pass the collection's label or path: latchkey import gnome-keyring-collection Login")
            }
            return SecretServiceStore(
                SecretServiceConfiguration(
                    collection: try .named(name), mayPrompt: context.settings.mayPrompt,
                    coordination: context.settings.leases))
        }
    }
}

extension ImportCommand.Source {
    /// The credentials in a program's plain-text file, and those of its own helper in the keyring.
    ///
    /// - Parameter isNamed: whether the path is on the command line. If so, only the file is read, and the file must
    ///   exist.
    func withKeyring(_ path: String, isNamed: Bool, _ context: CommandContext) async throws -> CredentialImport {
        if isNamed { return try await file(path, context.environment) }
        let found: CredentialImport? = try await nilIf(
            { (error: any Error) in (error as? ImportError)?.isAbsence ?? false },
            awaiting: await file(path, context.environment))
        var read = try found ?? CredentialImport()
        let others = try InMemoryStore()
        // A missing keyring counts as an empty one.
        let keyring = SecretServiceStore(
            SecretServiceConfiguration(
                mayPrompt: context.settings.mayPrompt, coordination: context.settings.leases))
        let copied = try await nilIf(
            { (error: StoreError) in error.code == .unavailable },
            awaiting: await keyring.copyForeign(
                to: others, having: shape, compares: true, deadline: context.deadline))
        for key in Set(copied?.differing ?? []) { read.skip("\(key), of which another secret was imported") }
        let transfer = Transfer(from: others, to: read.store, mode: .copy)
        for entry in try await others.list(deadline: context.deadline).all() {
            if try await transfer.transfer(entry.key, deadline: context.deadline) == .differs {
                let name = LoggableText(reviewed: "names are what a listing shows", unredacted: entry.key.service)
                read.skip("\(name) in the keyring")
            }
        }
        return read
    }

    private func file(_ path: String, _ environment: ProgramEnvironment) async throws -> CredentialImport {
        switch self {
        case .docker: try await DockerLogins.read(path)
        case .gcm: try await GitCredentialManagerFiles.read(path)
        default:
            try await CargoTokens.read(path) { registry in
                let name = registry.uppercased().replacing("-", with: "_")
                return environment["CARGO_REGISTRIES_\(name)_INDEX"]
            }
        }
    }

    /// The attribute by which the program's helper finds its items.
    private var shape: ItemAttributes {
        let (name, value) =
            switch self {
            case .docker: ("docker_cli", "1")
            case .gcm: ("xdg:schema", "com.microsoft.GitCredentialManager")
            default: ("xdg:schema", "org.rust-lang.cargo.registry")
            }
        return ItemAttributes(ofOthers: [name: value])
    }
}
