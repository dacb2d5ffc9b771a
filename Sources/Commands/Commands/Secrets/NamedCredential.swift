package import LatchkeyCommandLine
package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyStoreSelection

/// The two operands that name a credential.
enum KeyOperands {
    static let both: [CommandOperand] = [
        .required("SERVICE", help: "what the secret is for, such as a host"),
        .required("ACCOUNT", help: "whose it is"),
    ]
}

extension ParsedArguments {
    /// The key that SERVICE and ACCOUNT make.
    func credentialKey() throws(InvalidValue) -> CredentialKey {
        try CredentialKey(service: operand("SERVICE"), account: operand("ACCOUNT"))
    }
}

/// That a credential is in two places is said when it comes about; no question is asked for it, and nothing fails.
extension CommandContext {
    /// Says on standard error where else a credential is that was just saved.
    ///
    /// - Parameter view: what the command has open; the store that it saved in is one of it.
    package func warnOfOtherPlaces(
        of key: CredentialKey, savedIn store: any CredentialStore, _ view: StoreView
    ) async throws(StoreError) {
        let others = try await others(than: store, view)
        for place in try await selector.places(of: key, beside: store, among: others, settings: settings) {
            let name = place.store.backendName
            let which: LogMessage = place.isSame ? "the same" : "another"
            // A session isn't what `delete` deletes.
            output.warn(
                "\(key) is in \(place.store.identity) as well, with \(which) secret",
                hint: key.kind == .password
                    ? "latchkey delete --store \(name) takes it away there; latchkey list --all-stores shows what is where"
                    : "latchkey accounts --all-stores shows what is where")
        }
    }

    /// That nothing is under a key of a store, with a hint where else it is.
    package func absence(
        of key: CredentialKey, in store: any CredentialStore, _ view: StoreView
    ) async throws(StoreError) -> CommandFailure {
        if let hint = signInHint(key) { return CommandFailure(absent: key, in: store, hint: hint) }
        let others = try await others(than: store, view)
        for place in try await selector.places(of: key, beside: store, among: others, settings: settings) {
            return CommandFailure(
                absent: key, in: store,
                hint:
                    "it is in \(place.store.identity): name that one with --store \(place.store.backendName), or give --all-stores"
            )
        }
        if let git = try? CredentialKey(service: "git:https://" + key.service, account: key.account),
            try await store.read(git, as: Password.self, deadline: deadline) != nil
        {
            return CommandFailure(absent: key, in: store, hint: "git has one there: latchkey get \(words(of: git))")
        }
        return CommandFailure(
            absent: key, in: store, hint: "latchkey list shows what there is, and latchkey accounts the sign-ins")
    }

    /// As a command line takes them.
    private func words(of key: CredentialKey) -> LoggableText {
        LoggableText(
            reviewed: "services and accounts are what a listing shows", unredacted: "\(key.service) \(key.account)")
    }

    /// Where sign-ins are found, for somebody who saw the names of what they have stored.
    private func signInHint(_ key: CredentialKey) -> LogMessage? {
        let prefix = CredentialKey.providerPrefix
        guard key.service.hasPrefix(prefix) else { return nil }
        let provider = LoggableText(
            reviewed: "a provider's name stands in listings", unredacted: String(key.service.dropFirst(prefix.count)))
        return "sign-ins are apart: latchkey accounts, latchkey token \(provider), latchkey sign-out \(provider)"
    }

    private func others(
        than store: any CredentialStore, _ view: StoreView
    ) async throws(StoreError) -> [any CredentialStore] {
        guard usesAllStores else { return try await selector.openBeside(store, settings: settings) }
        return view.stores.filter { $0.identity != store.identity }
    }
}

extension CredentialStore {
    /// What `--store` takes.
    fileprivate var backendName: LoggableText {
        LoggableText(reviewed: "a word of the program", unredacted: identity.backend)
    }
}

extension CommandFailure {
    fileprivate init(absent key: CredentialKey, in store: any CredentialStore, hint: LogMessage) {
        self.init(
            .notFound, "credential.not-found", "there is no secret for \(key) in \(store.identity)", hint: hint)
    }
}
