/// The two operands that name a credential.
enum KeyOperands {
    static let both: [CommandOperand] = [
        .required("SERVICE", help: "service that the secret is for, such as a host"),
        .optional("ACCOUNT", help: "user or account that the secret belongs to (default: the service's only account)"),
    ]
}

/// A credential as a person names it: without an account, the service's only one.
package struct CredentialName: Sendable, Hashable {
    package let service: String
    package let account: String?

    /// Throws where no store takes such a service or account.
    package init(service: String, account: String?) throws(InvalidValue) {
        let key = try CredentialKey(service: service, account: account ?? "account")
        self.service = key.service
        self.account = account
    }

    /// The key, or `nil` without an account.
    package var key: CredentialKey? {
        account.flatMap { try? CredentialKey(service: service, account: $0) }
    }

    /// A name or path as one word of a shell.
    static func word(_ text: String) -> LoggableText { shown(ASCII.shellWord(text)) }

    fileprivate static func words(_ key: CredentialKey) -> LogMessage { "\(word(key.service)) \(word(key.account))" }
}

extension ParsedArguments {
    /// The name from SERVICE and ACCOUNT.
    func credentialName() throws(InvalidValue) -> CredentialName {
        try CredentialName(service: operand("SERVICE"), account: optionalOperand("ACCOUNT"))
    }
}

extension CommandContext {
    /// Returns the key of a name, and the store that contains, or would contain, the credential.
    ///
    /// If no account was set, the key has the service's only account in all stores of the view. Throws
    /// `credential.several-accounts` with the list if the service has several accounts.
    ///
    /// - Parameters:
    ///   - includesHosts: whether a service without a secret may be the host of another service's address, such as
    ///     `git:https://github.com`.
    ///   - otherwise: the account for a service without one. `nil` throws `credential.not-found`.
    ///   - isReference: whether the name was written as SERVICE/ACCOUNT.
    ///   - absence: an error that doesn't show the service, which may be a secret in the wrong place.
    package func find(
        _ name: CredentialName, in view: StoreView, includesHosts: Bool = false, otherwise: String? = nil,
        isReference: Bool = false, absence: CommandFailure? = nil
    ) async throws -> (key: CredentialKey, store: any CredentialStore) {
        if let key = name.key { return (key, try await view.store(for: key, deadline: deadline)) }
        var keys = try await keys(in: view.stores, of: name.service)
        if keys.isEmpty, includesHosts { keys = try await self.keys(in: view.stores, ofHostIn: name) }
        if keys.isEmpty, let otherwise { keys = [try CredentialKey(service: name.service, account: otherwise)] }
        guard let key = keys.first else {
            if let absence { throw absence }
            throw CommandFailure(
                .notFound, "credential.not-found",
                "no secret for \"\(CredentialName.shown(name.service))\" in \(view.stores[0].identity)",
                hint: try await hint(for: name, in: view.stores[0], beside: view))
        }
        guard keys.count == 1 else {
            throw CommandFailure(several: keys, of: name, isReference: isReference)
        }
        return (key, try await view.store(for: key, deadline: deadline))
    }

    /// The only credential of other services' addresses with this name as host, for a name without a secret.
    func findHost(
        _ name: CredentialName, in view: StoreView
    ) async throws -> (key: CredentialKey, store: any CredentialStore)? {
        let found = try await nilIf(Self.costsOnlyAHint, awaiting: await keys(in: view.stores, ofHostIn: name))
        let keys = found ?? []
        guard keys.count < 2 else { throw CommandFailure(several: keys, of: name) }
        guard let key = keys.first else { return nil }
        return (key, try await view.store(for: key, deadline: deadline))
    }

    /// The credentials of a service, each once, in the order of listings.
    private func keys(
        in stores: [any CredentialStore], of service: String
    ) async throws(StoreError) -> [CredentialKey] {
        try await keys(in: stores, of: service) { _ in true }
    }

    /// The credentials of services whose address has this host.
    private func keys(
        in stores: [any CredentialStore], ofHostIn name: CredentialName
    ) async throws(StoreError) -> [CredentialKey] {
        try await keys(in: stores, of: nil) { key in
            name.isHost(of: key.service) && (name.account ?? key.account).hasSameOctets(as: key.account)
        }
    }

    private func keys(
        in stores: [any CredentialStore], of service: String?, where isWanted: (CredentialKey) -> Bool
    ) async throws(StoreError) -> [CredentialKey] {
        var keys: Set<CredentialKey> = []
        for store in stores {
            var entries = store.list(service: service, deadline: deadline).makeAsyncIterator()
            while let entry = try await entries.next() {
                if entry.key.kind == .password, isWanted(entry.key) { keys.insert(entry.key) }
            }
        }
        return keys.sorted { $0.isListed(before: $1) }
    }
}

extension CredentialName {
    fileprivate static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "services and accounts are what a listing shows", unredacted: text)
    }

    /// An account as in SERVICE/ACCOUNT.
    fileprivate static func escaped(_ account: String) -> LoggableText {
        word(account.replacing("%", with: "%25").replacing("/", with: "%2F"))
    }

    /// The first ten, and how many more.
    fileprivate static func list(_ names: [LogMessage]) -> LogMessage {
        let more: [LogMessage] = names.count > 10 ? ["\(names.count - 10) more"] : []
        return LogMessage.joined(names.prefix(10) + more, separator: ", ")
    }

    /// Whether the service is the host, or the host and port, of an address such as `git:https://github.com/ada`, or the
    /// host after `gh:` or `terraform:`.
    fileprivate func isHost(of address: String) -> Bool {
        if ["gh:", "terraform:"].contains(where: { address == $0 + service }) { return true }
        let parts = address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count > 2, parts[0].last == ":", parts[1].isEmpty else { return false }
        let authority = parts[2]
        return authority == service || authority.prefix { $0 != ":" } == service
    }
}

/// A warning when a credential gets into two places. The warning asks no question, and the command succeeds.
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
                "\(key) is also in \(place.store.identity), with \(which) secret",
                hint: key.kind == .password
                    ? "to delete that copy, run `latchkey delete --store \(name) \(CredentialName.words(key))`"
                    : "run `latchkey accounts --all-stores` to see which store has which session")
        }
    }

    /// That nothing is under a key of a store, with a hint where else it is.
    package func absence(
        of key: CredentialKey, in store: any CredentialStore, _ view: StoreView
    ) async throws(StoreError) -> CommandFailure {
        let place = try await nilIf(
            Self.costsOnlyAHint,
            awaiting: await selector.places(
                of: key, beside: store, among: try await others(than: store, view), settings: settings))?.first
        if let place { return CommandFailure(absent: key, in: store, hint: Self.otherStoreHint(place.store)) }
        let name = try? CredentialName(service: key.service, account: key.account)
        return CommandFailure(absent: key, in: store, hint: try await hint(for: name, in: store))
    }

    private static func costsOnlyAHint(_ error: StoreError) -> Bool { error.code != .cancelled }

    /// The hint for a service or an account without a secret: the general one if the store can't be listed.
    ///
    /// - Parameter view: what the command has open, if another store may have the service's secrets.
    private func hint(
        for name: CredentialName?, in store: any CredentialStore, beside view: StoreView? = nil
    ) async throws(StoreError) -> LogMessage {
        try await nilIf(Self.costsOnlyAHint, awaiting: await bestHint(for: name, in: store, beside: view))
            ?? Self.listingHint
    }

    private func bestHint(
        for name: CredentialName?, in store: any CredentialStore, beside view: StoreView?
    ) async throws(StoreError) -> LogMessage {
        let prefix = CredentialKey.providerPrefix
        guard let name else { return Self.listingHint }
        if name.service.hasPrefix(prefix) {
            // Somebody saw the names of what a sign-in has stored.
            let provider = LoggableText(
                reviewed: "a provider's name stands in listings",
                unredacted: String(name.service.dropFirst(prefix.count)))
            return
                "for sign-ins, use `latchkey accounts`, `latchkey token \(provider)` or `latchkey sign-out \(provider)`"
        }
        if let view {
            let others = try await others(than: store, view)
            if let other = try await selector.stores(of: name.service, among: others, settings: settings).first {
                return Self.otherStoreHint(other)
            }
        }
        if let key = try await keys(in: [store], ofHostIn: name).first {
            return "a secret for this host is stored as \(CredentialName.words(key))"
        }
        let accounts = try await keys(in: [store], of: name.service).map(\.account)
        if let hint = try await hintForOneWord(name, in: store) { return hint }
        guard let account = name.account, !accounts.isEmpty else { return Self.listingHint }
        let sameLetters = accounts.first { $0.lowercased() == account.lowercased() }
        if let near = sameLetters ?? Suggestion.nearest(to: account, in: accounts) {
            return "did you mean the account \(CredentialName.word(near))?"
        }
        let service = CredentialName.shown(name.service)
        return "\"\(service)\" has secrets for \(CredentialName.list(accounts.map { "\(CredentialName.word($0))" }))"
    }

    /// For `get example.org/ada`, where the secret's name is two words.
    private func hintForOneWord(
        _ name: CredentialName, in store: any CredentialStore
    ) async throws(StoreError) -> LogMessage? {
        guard let cut = name.service.lastIndex(of: "/") else { return nil }
        let account = name.service[name.service.index(after: cut)...]
        let keys = try await keys(in: [store], of: String(name.service[..<cut]))
        return keys.first { $0.account == account }.map {
            "SERVICE and ACCOUNT are two words: \(CredentialName.words($0))"
        }
    }

    private static func otherStoreHint(_ store: any CredentialStore) -> LogMessage {
        "\(store.identity) has the secret: use --store \(store.backendName) or --all-stores"
    }

    private static let listingHint: LogMessage = "run `latchkey list` to see the stored secrets"

    private func others(
        than store: any CredentialStore, _ view: StoreView
    ) async throws(StoreError) -> [any CredentialStore] {
        guard usesAllStores else { return try await selector.openBeside(store, settings: settings) }
        return view.stores.filter { $0.identity != store.identity }
    }
}

extension CredentialStore {
    /// The values of `--store`.
    fileprivate var backendName: LoggableText {
        LoggableText(reviewed: "a word of the program", unredacted: identity.backend)
    }
}

extension CommandFailure {
    fileprivate init(absent key: CredentialKey, in store: any CredentialStore, hint: LogMessage) {
        self.init(.notFound, "credential.not-found", "no secret for \"\(key)\" in \(store.identity)", hint: hint)
    }

    fileprivate init(several keys: [CredentialKey], of name: CredentialName, isReference: Bool = false) {
        let isOneService = keys.allSatisfy { $0.service.hasSameOctets(as: name.service) }
        let names = keys.map {
            (isOneService ? "\(CredentialName.word($0.account))" : CredentialName.words($0)) as LogMessage
        }
        self.init(
            .usage, "credential.several-accounts",
            "\"\(CredentialName.shown(name.service))\" has \(keys.count) accounts: \(CredentialName.list(names))",
            hint: isOneService && isReference
                ? "add the account after SERVICE and a slash, such as /\(CredentialName.escaped(keys[0].account))"
                : isOneService
                    ? "add the account after SERVICE, such as \(names[0])"
                    : "write the one that you mean in place of SERVICE")
    }
}
