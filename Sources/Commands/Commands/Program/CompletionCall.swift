internal import Glibc
internal import LatchkeySignIn

/// The call of a shell while a person types: `latchkey __complete WORD…`. The last word is unfinished.
///
/// The call writes a line for each candidate: the word, a tab, its meaning. `:files` and `:programs` request the
/// shell's own candidates. The call asks no questions, derives no key, unlocks no keyring, and shows no secret. After
/// an error the call writes no candidates, because a shell can't show an error while a person types.
struct CompletionCall {
    static let word = "__complete"
    /// The limit of credentials to look at.
    private static let mostEntries = 10_000

    let commands: [Command]
    let catalogue: StoreCatalogue
    let environment: ProgramEnvironment
    let output: TerminalOutput
    let hardening: HardeningReport

    /// The words of such a call, or `nil` for another command line.
    static func words(_ arguments: [[UInt8]]) -> [String]? {
        guard let first = arguments.first, first == Array(word.utf8) else { return nil }
        return arguments.dropFirst().map { String(decoding: $0, as: UTF8.self) }
    }

    func answer(_ words: [String]) async throws {
        silenceLog()
        let expected = LatchkeyGrammar.grammar(of: commands, catalogue).expected(after: words)
        switch expected.source {
        case .words(let words): for (word, help) in words { try offer(text(word.text), help, expected) }
        case .stores:
            for backend in catalogue.backends where backend.isPersistent {
                try offer(text(backend.name.description), "", expected)
            }
        case .providers: for (name, help) in providers(expected) { try offer(text(name), help, expected) }
        case .services, .accounts: for name in await names(expected) { try offer(text(name), "", expected) }
        case .files: try output.write(":files")
        case .programs: try output.write(":programs")
        case .nothing: break
        }
    }

    private func text(_ word: String) -> LoggableText {
        LoggableText(reviewed: "words of ours, and names that listings show", unredacted: word)
    }

    private func offer(_ word: LoggableText, _ help: LogMessage, _ expected: ExpectedWord) throws(CommandFailure) {
        guard word.unredacted.hasPrefix(expected.beginning) else { return }
        try output.write(candidate: text(expected.before + word.unredacted), meaning: help)
    }

    /// Disables the log, because a log line would appear in the middle of the person's typing.
    private func silenceLog() {
        let nowhere = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nowhere >= 0 else { return }
        dup2(nowhere, 2)
        close(nowhere)
    }

    // MARK: - Providers

    /// Those that were added; for a sign-in also those that need no adding.
    private func providers(_ expected: ExpectedWord) -> [(String, LogMessage)] {
        let folder = environment["LATCHKEY_CONFIG"] ?? environment.configurationDirectory
        let added = (try? ProviderFolder(configurationFolder: folder).names()) ?? []
        var names = added.map { ($0.text, "" as LogMessage) }
        if expected.arguments?.command.name == SignInCommand.command.definition.name {
            let known = BuiltInProvider.all.map(\.name.text)
            names += known.filter { name in !names.contains { $0.0 == name } }.map { ($0, "built in") }
        }
        return names
    }

    // MARK: - Services and accounts

    private func names(_ expected: ExpectedWord) async -> [String] {
        guard let arguments = expected.arguments else { return [] }
        var names: Set<String> = []
        for store in await stores(arguments) {
            var service: String?
            var kind = CredentialKind.password
            if case .accounts = expected.source {
                if arguments.takes(operand: "PROVIDER"), let provider = arguments.optionalOperand("PROVIDER") {
                    (service, kind) = (CredentialKey.providerPrefix + provider, .session)
                } else if arguments.takes(operand: "SERVICE"), let name = arguments.optionalOperand("SERVICE") {
                    service = name
                } else {
                    continue
                }
            }
            var entries = store.list(service: service, deadline: .after(.seconds(2))).makeAsyncIterator()
            var count = 0
            while count < Self.mostEntries, let entry = try? await entries.next() {
                count += 1
                if entry.key.kind == kind { names.insert(service == nil ? entry.key.service : entry.key.account) }
            }
        }
        return names.sorted()
    }

    /// The store that the command would use, or all stores, as far as they open at once.
    private func stores(_ arguments: ParsedArguments) async -> [any CredentialStore] {
        guard
            let context = try? CommandContext(
                arguments: arguments, environment: environment, output: output, catalogue: catalogue,
                hardening: hardening)
        else { return [] }
        var settings = context.settings.askingNobody
        settings.timeout = .seconds(2)
        var backends = catalogue.backends.filter { $0.isPersistent && $0.exists(settings) }
        if !context.usesAllStores {
            let choice = try? await context.selector.choose(
                named: context.namedStore, settings: settings, remembers: false)
            backends = choice.map { [$0.backend] } ?? []
        }
        var stores: [any CredentialStore] = []
        for backend in backends {
            if let store = try? await backend.openBeside(settings) { stores.append(store) }
        }
        return stores
    }
}
