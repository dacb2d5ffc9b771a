internal import LatchkeySecretService

/// The state of the keyring. Asks no question.
struct KeyringCheck {
    let settings: StoreSettings
    /// Whether the keyring is the chosen store, so that what is wrong with it matters.
    let matters: Bool
    /// Whether the duplicates that can be deleted have been.
    let isRepaired: Bool

    func findings() async throws(StoreError) -> [Finding] {
        let store = SecretServiceStore(
            SecretServiceConfiguration(
                collection: settings.collection, mayPrompt: false, coordination: settings.leases))
        do throws(StoreError) {
            let report = try await store.report(deadline: .after(min(settings.timeout, .seconds(10))))
            return [service(report), prompter(report), collection(report)] + (try await duplicates(store, report))
        } catch {
            if error.code == .cancelled { throw error }
            return [.refusal("keyring", error, matters: matters)]
        }
    }

    private func service(_ report: SecretServiceReport) -> Finding {
        let name = LoggableText(
            reviewed: "the kernel's name of the keyring's process", unredacted: report.processName ?? "unknown")
        let number: LogMessage = report.processIdentifier.map { "process \($0)" } ?? "process unknown"
        guard report.isSessionEncrypted else {
            return .problem(
                "keyring", .protocolError, "\(name), \(number): secrets would cross the bus unencrypted",
                remedy: "restart the keyring service")
        }
        let aliases: LogMessage =
            report.aliases.isEmpty ? "no alias" : "aliases: \(LogMessage.joined(report.aliases.map(shown)))"
        return .good(
            "keyring",
            """
            \(name), \(number), collections: \(report.collectionCount), locked: \(report.lockedCount), \(aliases); secrets \
            cross the bus encrypted
            """)
    }

    private func shown(_ alias: SecretServiceReport.Alias) -> LogMessage {
        switch alias {
        case .standard: "default"
        case .login: "login"
        case .session: "session"
        }
    }

    private func prompter(_ report: SecretServiceReport) -> Finding {
        if report.isOurs {
            return .note("prompts", "Latchkey's keyring asks for a passphrase only at `latchkey keyring agent`")
        }
        let isGNOME = report.processName?.hasPrefix("gnome-keyring") ?? false
        switch (settings.hasDisplay, report.hasSystemPrompter || !isGNOME) {
        case (true, true): return .good("prompts", "the keyring can ask for its password")
        case (true, false):
            return .note(
                "prompts", "no program shows the keyring's prompts",
                remedy: "install gcr (gcr-prompter), or unlock the keyring at login")
        case (false, _):
            return .note("prompts", "without a display the keyring can't ask for its password")
        }
    }

    private func collection(_ report: SecretServiceReport) -> Finding {
        switch report.collection {
        case .open(let count): return .good("collection", "open, items: \(count)")
        case .locked:
            let text: LogMessage = "locked"
            let isReachable = settings.hasDisplay && !report.isOurs
            let remedy: LogMessage =
                report.isOurs
                ? "run `latchkey vault unlock`, or `latchkey keyring agent` at a terminal"
                : isReachable
                    ? "unlock it in your keyring application, or log in again" : StoreSettings.unlockingWithoutDisplay
            return matters && !isReachable
                ? .problem("collection", .refused, text, remedy: remedy) : .note("collection", text, remedy: remedy)
        case .missing:
            let remedy: LogMessage = "run `latchkey set --create-collection SERVICE ACCOUNT`"
            return matters
                ? .problem("collection", .unavailable, "the collection doesn't exist", remedy: remedy)
                : .note("collection", "the collection doesn't exist", remedy: remedy)
        }
    }

    private func duplicates(
        _ store: SecretServiceStore, _ report: SecretServiceReport
    ) async throws(StoreError) -> [Finding] {
        guard case .open = report.collection else { return [] }
        let found = try await store.duplicates(deadline: settings.deadline)
        guard !found.isEmpty else { return [.good("duplicates", "no duplicates")] }
        let credentials = LogMessage.counted(found.count, "credential is", "credentials are")
        return [
            .note(
                "duplicates",
                "\(credentials) stored in several items; from a keyring, Latchkey reads the newest item",
                remedy: isRepaired
                    ? "compare them in your keyring application, and delete those that no program uses"
                    : "run `latchkey doctor --repair-duplicates`")
        ]
    }
}

extension SecretServiceReport {
    /// Whether the keyring is a vault that this program serves.
    fileprivate var isOurs: Bool { processName == "latchkey" }
}

/// Saves a throw-away secret in a store, reads it back and deletes it.
struct RoundTrip {
    private static let service = "latchkey:doctor"
    private static let label = "Latchkey's doctor, to be deleted"
    let store: any CredentialStore
    let deadline: Deadline

    func finding() async throws(StoreError) -> Finding {
        do throws(StoreError) {
            return try await run()
        } catch {
            if error.code == .cancelled { throw error }
            // The person may open it: this process must not ask.
            if error.code == .locked {
                return .note("round trip", "skipped: \(error.cause)", remedy: error.hint?.remedy)
            }
            return .refusal("round trip", error, matters: true)
        }
    }

    private func newSecret() throws(StoreError) -> Secret<Password> {
        return try mapError(
            { (error: RandomSourceError) in StoreError(.unavailable, "\(error)", platform: .errno(error.number)) },
            of: .random(byteCount: 32))
    }

    private func run() async throws(StoreError) -> Finding {
        let secret = try newSecret()
        // Left behind by a check that was killed; a younger one may be another's.
        for entry in (try? await store.list(service: Self.service, deadline: deadline).all()) ?? []
        where entry.label == Self.label && UInt64(entry.key.account) != nil
            && entry.modified.advanced(bySeconds: 60) < .now()
        {
            _ = try? await store.delete(entry.key, condition: .none, deadline: deadline)
        }
        guard let key = try? CredentialKey(service: Self.service, account: "\(UInt64.random(in: 0 ... .max))")
        else {
            return .note("round trip", "skipped")
        }
        let options = SaveOptions(label: Self.label, condition: .absent)
        try await store.save(secret, for: key, options: options, deadline: deadline)
        let isSame = try await store.read(key, as: Password.self, deadline: deadline)?.secret.matches(secret) ?? false
        try await store.delete(key, condition: .none, deadline: deadline)
        let isGone = try await store.read(key, as: Password.self, deadline: deadline) == nil
        guard isSame, isGone else {
            return .problem(
                "round trip", .badData,
                isSame
                    ? "the store still contains a deleted secret" : "the store returned another secret than was stored",
                remedy: "use another store, and report this together with the name of the keyring's program")
        }
        return .good("round trip", "saved, read and deleted a test secret in the store in use")
    }
}
