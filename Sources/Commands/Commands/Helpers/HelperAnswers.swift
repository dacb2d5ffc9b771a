extension StoreView {
    /// Returns the credential of the first of these services that has one. If several accounts have one, returns the
    /// credential that was changed last. Returns `nil` for none, and for names that no store takes.
    ///
    /// Skips a store that can't be searched, if there are several: call `checkAllSearched` if nothing else answers.
    ///
    /// - Parameters:
    ///   - skipped: the error of the first store that was skipped; stays if there was one before.
    ///   - isUsable: whether a secret can be the answer.
    func credential(
        services: [String], account: String?, deadline: Deadline, skipped: inout StoreError?,
        where isUsable: @Sendable (borrowing Secret<Password>) -> Bool = { _ in true }
    ) async throws -> CredentialRecord<Password>? {
        try await first(skipped: &skipped) { store in
            // One listing for all, or a look at one after the other.
            for services in store.capabilities.listsAllForOneService ? [services] : services.map({ [$0] }) {
                if let record = try await store.credential(services, account, isUsable, deadline) { return record }
            }
            return nil
        }
    }

    /// Returns the credential under a service. Throws if there is none and a store couldn't be searched.
    func credential(
        _ service: String, _ account: String?, deadline: Deadline
    ) async throws -> CredentialRecord<Password>? {
        var skipped: StoreError?
        let found = try await credential(services: [service], account: account, deadline: deadline, skipped: &skipped)
        if found == nil { try checkAllSearched(skipped) }
        return found
    }

    /// Does something in every store, also after one of several failed, whose error is thrown at the end.
    func forEach(_ body: (any CredentialStore) async throws -> Void) async throws {
        var skipped: StoreError?
        _ = try await first(skipped: &skipped) { (store) -> Void? in
            try await body(store)
            return nil
        }
        if let error = skipped ?? refusals.first?.error { throw error }
    }

    /// Deletes the passwords of these services in every store, and those in other programs' items of this shape. Returns
    /// whether there was one.
    func erase(
        services: [String], account: String? = nil, shape: ItemAttributes, deadline: Deadline
    ) async throws -> Bool {
        var isErased = false
        try await forEach { store in
            for key in try await store.keys(services, account, deadline) {
                if try await store.delete(key, condition: .none, deadline: deadline) { isErased = true }
            }
            let isFound = try await store.items?.deleteForeign(having: shape, deadline: deadline) { key, _ in
                services.contains { key.service.hasSameOctets(as: $0) }
            }
            if isFound == true { isErased = true }
        }
        return isErased
    }

    /// Returns the first result of a store, passing over one of several that fails.
    func first<Result: ~Copyable>(
        skipped: inout StoreError?, _ body: (any CredentialStore) async throws -> Result?
    ) async throws -> Result? {
        for store in stores {
            do {
                if let result = try await body(store) { return result }
            } catch let error as StoreError where isOfSeveral && !error.endsSearch {
                skipped = skipped ?? error
            }
        }
        return nil
    }

    /// The items of other programs, in the desktop's keyring or in a served vault, under Latchkey's names for them.
    ///
    /// - Parameter shapes: the attributes by which the items are found.
    func foreign(
        having shapes: [ItemAttributes], deadline: Deadline, skipped: inout StoreError?
    ) async throws -> StoreView {
        let found = try InMemoryStore()
        // The chosen store's credentials have precedence.
        for store in stores.reversed().compactMap(\.items) {
            for attributes in shapes {
                let error = await failure(
                    StoreError.self,
                    awaiting: try await store.copyForeign(to: found, having: attributes, deadline: deadline))
                guard let error else { continue }
                guard isOfSeveral, !error.endsSearch else { throw error }
                skipped = skipped ?? error
                break
            }
        }
        return StoreView([found])
    }
}

extension CredentialStore {
    fileprivate func credential(
        _ services: [String], _ account: String?, _ isUsable: (borrowing Secret<Password>) -> Bool,
        _ deadline: Deadline
    ) async throws -> CredentialRecord<Password>? {
        var services = services
        if account == nil, let items, services.allSatisfy(CredentialKey.isName) {
            while let service = services.first {
                if let record = try await items.readLatest(service: service, deadline: deadline) {
                    if isUsable(record.secret) { return record }
                    break
                }
                services.removeFirst()
            }
            if services.isEmpty { return nil }
        }
        for key in try await keys(services, account, deadline) {
            if let record = try await read(key, as: Password.self, deadline: deadline), isUsable(record.secret) {
                return record
            }
        }
        return nil
    }

    /// The keys to try, in the order of the services. The keys of one service begin with the one that was changed last.
    func keys(_ services: [String], _ account: String?, _ deadline: Deadline) async throws -> [CredentialKey] {
        let services = services.filter(CredentialKey.isName)
        if let account {
            return services.compactMap { try? CredentialKey(service: $0, account: account) }
        }
        var entries: [CredentialMetadata] = []
        if capabilities.listsAllForOneService && services.count > 1 {
            let wanted = Set(services.map(Octets.init))
            entries = try await list(deadline: deadline).all().filter { wanted.contains(Octets($0.key.service)) }
        } else {
            for service in services { entries += try await list(service: service, deadline: deadline).all() }
        }
        let rank = Dictionary(services.enumerated().map { (Octets($1), $0) }, uniquingKeysWith: min)
        return entries.filter { $0.key.kind == .password }.sorted { one, other in
            let (first, second) = (rank[Octets(one.key.service)] ?? 0, rank[Octets(other.key.service)] ?? 0)
            return first == second ? one.modified > other.modified : first < second
        }.map(\.key)
    }
}

extension CredentialKey {
    /// Whether a text can be a service's name.
    static func isName(_ text: String) -> Bool { (try? CredentialKey(service: text, account: "any")) != nil }
}

extension RedactedError {
    /// The error in one line, for standard error of a tool that shows or logs it.
    var line: LogMessage {
        let cause = cause.worded
        // A helper never asks: what it can't say is how to let it.
        let hint = hint?.wording { $0 == .allowPrompt ? "unlock the keyring, or log in to the desktop" : "\($0)" }
        return hint.map { "\(cause); \($0.worded)" } ?? cause
    }
}

/// Reports an error in one line on standard error, and ends with its status.
@Sendable func reportInOneLine(_ error: any RedactedError, _ output: TerminalOutput) -> ExitStatus {
    output.note(error.line)
    return ExitStatus(error)
}
