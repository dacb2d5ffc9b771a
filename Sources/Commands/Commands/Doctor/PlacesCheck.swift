/// Whether a credential is in two stores at once, among the stores that open without a question.
struct PlacesCheck {
    let stores: [any CredentialStore]
    /// Whether commands look for credentials in every store: then one that has two secrets can't be used.
    let usesAllStores: Bool
    /// The time for each store's listing, and for all comparisons together: a store that hangs doesn't use up another's.
    let timeout: Duration

    /// How many credentials' secrets are compared.
    private static let mostCompared = 1000

    /// Nothing where there is but one store.
    func findings() async throws(StoreError) -> [Finding] {
        guard stores.count > 1 else { return [] }
        var findings: [Finding] = []
        var duplicates: [CredentialKey: [any CredentialStore]] = [:]
        var places: [CredentialKey: Int] = [:]
        for index in stores.indices {
            if let error = await failure(StoreError.self, awaiting: try await look(into: index, &places, &duplicates)) {
                if error.code == .cancelled { throw error }
                let name = LoggableText(
                    reviewed: "a word of the program", unredacted: stores[index].identity.backend)
                findings.append(
                    .note(
                        "stores", "can't compare the credentials in \(name): \(error.cause) [\(error.codeName)]",
                        remedy: error.hint?.remedy))
            }
        }
        guard !duplicates.isEmpty else { return findings + [.good("stores", "every credential is in one store only")] }
        return findings + [try await report(duplicates)]
    }

    private func look(
        into index: Int, _ places: inout [CredentialKey: Int],
        _ duplicates: inout [CredentialKey: [any CredentialStore]]
    ) async throws(StoreError) {
        let deadline = Deadline.after(timeout)
        var entries = stores[index].list(deadline: deadline).makeAsyncIterator()
        while let entry = try await entries.next() {
            if let first = places[entry.key] {
                // A listing may show one twice.
                if first == index { continue }
                // A vault beside the keyring that it is served as: all of it is one.
                if try await ServedVault.hasSame(
                    entry.key, in: stores[first], and: stores[index], deadline: deadline)
                {
                    return
                }
                duplicates[entry.key, default: [stores[first]]].append(stores[index])
            } else if index < stores.count - 1 {
                // Nothing comes after the last store, which may be a large one.
                places[entry.key] = index
            }
        }
    }

    private func report(_ duplicates: [CredentialKey: [any CredentialStore]]) async throws(StoreError) -> Finding {
        let deadline = Deadline.after(timeout)
        var differing = 0
        for (key, stores) in duplicates.prefix(Self.mostCompared) {
            if try await !holdSame(key, stores, deadline) { differing += 1 }
        }
        let text: LogMessage =
            "credentials in several stores: \(duplicates.count), with different secrets: \(differing)"
        let remedy: LogMessage =
            """
            list them with `latchkey list --all --all-stores`; join those with the same secret with `latchkey move`; if the \
            secrets differ, delete one with `latchkey delete --store STORE`
            """
        return usesAllStores && differing > 0
            ? .problem("stores", .usage, text, remedy: remedy) : .note("stores", text, remedy: remedy)
    }

    private func holdSame(
        _ key: CredentialKey, _ stores: [any CredentialStore], _ deadline: Deadline
    ) async throws(StoreError) -> Bool {
        do throws(StoreError) {
            guard let first = try await stores[0].read(key, as: ItemContent.self, deadline: deadline) else {
                return true
            }
            for store in stores.dropFirst() {
                guard let other = try await store.read(key, as: ItemContent.self, deadline: deadline) else { continue }
                if !other.secret.matches(first.secret) { return false }
            }
            return true
        } catch {
            if error.code == .cancelled { throw error }
            return false
        }
    }
}

/// Which store is used, who says so, and how the others would do.
struct ChoiceCheck {
    let context: CommandContext
    let settings: StoreSettings

    func findings() async -> (choice: StoreChoice?, findings: [Finding]) {
        let choice: StoreChoice
        do throws(StoreSelectionError) {
            choice = try await context.selector.choose(
                named: context.namedStore, settings: settings, remembers: false)
        } catch {
            return (nil, [.refusal("choice", error, matters: true)])
        }
        let name: LogMessage = "\(choice.backend.name) (\(choice.source.logMessage))"
        // The store's own line has the reason.
        var findings: [Finding] = [
            choice.backend.exists(settings)
                ? .good("choice", name) : .note("choice", "\(name), which can't be used (see below)")
        ]
        for backend in context.selector.catalogue.backends
        where backend.name.description != choice.backend.name.description {
            findings.append(await why(backend))
        }
        return (choice, findings)
    }

    /// Why another store isn't the one.
    private func why(_ backend: StoreBackend) async -> Finding {
        guard backend.isPersistent else {
            return .note("choice", "not \(backend.name): it forgets everything when the process ends")
        }
        if let error = await failure(StoreError.self, awaiting: try await backend.probe(settings)) {
            return .note("choice", "not \(backend.name): \(error.cause) [\(error.codeName)]")
        }
        return .note("choice", "\(backend.name) works, but another store is set or comes first")
    }
}
