internal import LatchkeySecretService
internal import LatchkeyVault

/// `latchkey doctor [--json] [--repair-duplicates]`.
enum DoctorCommand {
    private static let verbose = CommandOption.flag("--verbose", help: "list all checks, not only the problems")
    private static let repair = CommandOption.flag(
        "--repair-duplicates", help: "first delete duplicate items in the keyring")

    static let command = Command(
        "doctor", topic: .stores, summary: "check stores and configuration, and report problems",
        options: [repair, verbose],
        details: """
            doctor lists problems first, each with the command that fixes it. It asks no question. It stores, reads and deletes a
            test secret in the store in use, and changes nothing else. You can paste every line into a public issue. Exits with 0
            if everything is fine, otherwise with the status of the first problem.
            """,
        examples: ["latchkey doctor", "latchkey doctor --verbose", "latchkey doctor --json"]
    ) { arguments, context in
        if arguments.has(repair) { try await repairDuplicates(context) }
        let findings = try await findings(context, isRepaired: arguments.has(repair)).map {
            $0.worded(by: context.output, home: context.environment.home)
        }
        if arguments.has(GlobalOptions.json) {
            try context.output.write(.array(findings.map(\.json)))
        } else {
            // Problems first; a note with a remedy is something to do as well.
            let shown = arguments.has(verbose) ? findings : findings.filter(\.isProblem) + findings.filter(\.isAdvice)
            try context.output.write(shown.table)
            if !arguments.has(verbose) {
                let problems = LogMessage.counted(findings.count(where: \.isProblem), "problem", "problems")
                try context.output.write("\(problems) in \(findings.count) checks; --verbose lists all")
            }
        }
        return findings.status
    }

    private static func findings(_ context: CommandContext, isRepaired: Bool) async throws -> [Finding] {
        let settings = context.settings.askingNobody
        var findings = ProcessCheck(context: context).findings + providers(context)
        let check = ChoiceCheck(context: context, settings: settings)
        let (choice, reasons) = await check.findings()
        findings += reasons
        let chosen = choice?.backend.name.description
        findings += try await KeyringCheck(
            settings: settings, matters: chosen == "secret-service", isRepaired: isRepaired
        ).findings()
        let (vaultFindings, vault) = try await VaultCheck(
            settings: settings, matters: chosen == "vault", mayPrompt: context.settings.mayPrompt
        ).findings()
        findings += vaultFindings
        findings += try await examined(context.selector.catalogue, settings, chosen: chosen)
        // A vault is opened once: its passphrase may come through a pipe.
        var store: (any CredentialStore)? = vault
        if let choice, chosen != "vault" { store = try? await choice.backend.open(settings) }
        findings += try await PlacesCheck(
            stores: try await storesToLookInto(vault, context, settings), usesAllStores: context.usesAllStores,
            timeout: settings.timeout
        ).findings()
        if chosen != nil, let store {
            findings.append(try await RoundTrip(store: store, deadline: settings.deadline).finding())
        }
        return findings
    }

    /// The providers whose files no command reads.
    private static func providers(_ context: CommandContext) -> [Finding] {
        do {
            return try context.providers.names().compactMap { name in
                do {
                    _ = try context.providers.read(name)?.provider()
                    return nil
                } catch let error as CommandFailure {
                    return .refusal("providers", error, matters: true)
                }
            }
        } catch {
            return (error as? CommandFailure).map { [.refusal("providers", $0, matters: true)] } ?? []
        }
    }

    /// The findings about the other stores.
    private static func examined(
        _ catalogue: StoreCatalogue, _ settings: StoreSettings, chosen: String?
    ) async throws(StoreError) -> [Finding] {
        var findings: [Finding] = []
        for backend in catalogue.backends {
            guard let examine = backend.examine else { continue }
            let matters = chosen == backend.name.description
            do throws(StoreError) {
                findings += try await examine(settings).map { Finding($0, of: backend.name, matters: matters) }
            } catch {
                if error.code == .cancelled { throw error }
                findings.append(.refusal(backend.name, error, matters: matters))
            }
        }
        return findings
    }

    /// The stores that open without a question. The vault comes last, because it may be large.
    private static func storesToLookInto(
        _ vault: VaultStore?, _ context: CommandContext, _ settings: StoreSettings
    ) async throws -> [any CredentialStore] {
        var stores: [any CredentialStore] = []
        for backend in context.selector.catalogue.backends
        where backend.isPersistent && backend.name.description != "vault" && backend.exists(settings) {
            do throws(StoreError) {
                if let store = try await backend.openBeside(settings) { stores.append(store) }
            } catch {
                if error.code == .cancelled { throw error }
                context.logger.info("can't check \(backend.name): \(error)")
            }
        }
        if let vault { stores.append(vault) }
        return stores
    }

    private static func repairDuplicates(_ context: CommandContext) async throws {
        let store = SecretServiceStore(
            SecretServiceConfiguration(
                collection: context.settings.collection, mayPrompt: context.settings.mayPrompt,
                coordination: context.settings.leases))
        var deleted = 0
        var left = 0
        for duplicates in try await store.duplicates(deadline: context.deadline) {
            let repair = try await store.repairDuplicates(of: duplicates.key, deadline: context.deadline)
            deleted += repair.deleted
            left += repair.left
        }
        let items = LogMessage.counted(deleted, "item", "items")
        context.output.note(
            "deleted \(items) from the keyring; kept \(left) that other programs use or that have other secrets")
    }
}
