internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets
internal import LatchkeySystem

extension KeyringCollection {
    func read<Purpose: SecretPurpose>(
        _ key: CredentialKey, as purpose: Purpose.Type, _ deadline: Deadline
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        try await read(ItemAttributes.made(for: key), as: purpose, deadline) { Self.matches($0, key).first }
    }

    /// Returns the password of a service that was changed last, whosever it is.
    func readLatest(service: String, _ deadline: Deadline) async throws(StoreError) -> CredentialRecord<Password>? {
        try await read([(ItemAttributes.service, service)], as: Password.self, deadline) { items in
            items.filter { $0.key?.kind == .password && $0.key?.service == service }.min { $0.precedes($1) }
        }
    }

    /// Reads the one that is chosen of the items with these attributes, in as few calls as there can be.
    private func read<Purpose: SecretPurpose>(
        _ attributes: [(String, String)], as purpose: Purpose.Type, _ deadline: Deadline,
        _ choose: ([KeyringItem]) -> KeyringItem?
    ) async throws(StoreError) -> CredentialRecord<Purpose>? {
        let interruption = try CallInterruption(deadline)
        return try await KeyringConnection.shared.perform(
            interruption, searching: { searchEarly(attributes, interruption, $0) }
        ) { (session) async throws(KeyringFailure) in
            try await read(attributes, as: purpose, session, interruption, choose)
        }
    }

    private func read<Purpose: SecretPurpose>(
        _ attributes: [(String, String)], as purpose: Purpose.Type, _ session: KeyringSession,
        _ interruption: CallInterruption, _ choose: ([KeyringItem]) -> KeyringItem?
    ) async throws(KeyringFailure) -> CredentialRecord<Purpose>? {
        // Items may vanish or be locked between two steps; then it starts again.
        for _ in 0..<Self.attempts {
            let found = try await find(attributes, withSecret: true, session, interruption)
            if found.paths.isEmpty {
                if try await unlockIfLocked(session, interruption) { continue }
                return nil
            }
            let items = try await describe(found, session, interruption)
            if try await unlock(items, session, interruption) { continue }
            guard let item = choose(items), let key = item.key else {
                if found.isEarly { continue }
                return nil
            }
            guard
                let decoded = try await secret(of: item, found.look, as: purpose, session, interruption)
            else {
                session.knownItems[item.path] = nil
                continue
            }
            let version = versionKey.version(of: item.item, decoded.secret)
            if let known = found.look?.known {
                // It holds as long as the secret is the same: another one may be another item's.
                guard known.version == version else {
                    session.knownItems[item.path] = nil
                    continue
                }
            } else {
                session.remember(item, version)
            }
            return makeRecord(key, item, version, decoded)
        }
        throw .store(.keyringKeepsChanging)
    }

    /// Returns the secret of a described item, or `nil` if the item was deleted or changed.
    private func secret<Purpose: SecretPurpose>(
        of item: KeyringItem, _ look: EarlyLook?, as purpose: Purpose.Type, _ session: KeyringSession,
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> DecodedSecret<Purpose>? {
        let pending = look?.secret ?? startSecret(at: item.path, session, interruption)
        do throws(KeyringFailure) {
            return try await secret(pending, of: item, as: purpose, session, interruption)
        } catch {
            // Locked or deleted since it was described.
            guard look?.known != nil, case .bus(let failure) = error else { throw error }
            guard failure.meaning == .isLocked || failure.meaning == .noSuchObject else { throw error }
            return nil
        }
    }

    private func makeRecord<Purpose: SecretPurpose>(
        _ key: CredentialKey, _ item: KeyringItem, _ version: CredentialVersion,
        _ decoded: consuming DecodedSecret<Purpose>
    ) -> CredentialRecord<Purpose> {
        let type = SecretContentType(of: decoded.secret, named: decoded.contentType)
        return CredentialRecord(
            metadata: item.item.metadata(for: key), version: version, contentType: type, secret: decoded.takeSecret())
    }

    /// Returns the version of an item, or `nil` when it has vanished.
    func version(
        of item: KeyringItem, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> CredentialVersion? {
        let pending = startSecret(at: item.path, session, interruption)
        guard let decoded = try await secret(pending, of: item, as: Password.self, session, interruption) else {
            return nil
        }
        return versionKey.version(of: item.item, decoded.secret)
    }

    func startSecret(
        at path: String, _ session: KeyringSession, _ interruption: CallInterruption
    ) -> Pending<AsyncResult> {
        session.start(.getSecrets, on: BusName.service, [.paths([path]), .path(session.path)], interruption)
    }

    func secret<Purpose: SecretPurpose>(
        _ pending: Pending<AsyncResult>, of item: KeyringItem, as purpose: Purpose.Type, _ session: KeyringSession,
        _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> DecodedSecret<Purpose>? {
        let secrets = try await session.finish(pending, interruption)[0]
        // A service leaves out what it doesn't find.
        guard let form = secrets.children.first(where: { $0[0].text == item.path })?[1] else { return nil }
        guard let decoded = session.codec.decode(form, as: purpose) else { throw .store(.keyringSecretUnreadable) }
        return decoded
    }

    // MARK: - Listing

    /// Returns what can be read, in the order of service, account and kind.
    func list(service: String?, _ deadline: Deadline) async throws(StoreError) -> [CredentialMetadata] {
        let items = try await allItems(service.map { [(ItemAttributes.service, $0)] }, deadline)
        var first: [CredentialKey: KeyringItem] = [:]
        for item in items {
            // A service may find other items than the requested ones.
            guard let key = item.key, service.map({ key.service.hasSameOctets(as: $0) }) ?? true else { continue }
            if let other = first[key], other.precedes(item) { continue }
            first[key] = item
        }
        return first.map { $1.item.metadata(for: $0) }.sorted { Self.precedes($0.key, $1.key) }
    }

    func allItems(_ attributes: [(String, String)]?, _ deadline: Deadline) async throws(StoreError) -> [KeyringItem] {
        try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            try await allItems(attributes, session, interruption)
        }
    }

    /// All items, or those that have these attributes among others, unlocked, in no order.
    func allItems(
        _ attributes: [(String, String)]?, _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [KeyringItem] {
        // A locked collection shows its items without their names, or not at all.
        _ = try await unlockIfLocked(session, interruption)
        for _ in 0..<Self.attempts {
            let paths =
                if let attributes {
                    try await search(attributes, session, interruption)
                } else {
                    try await allPaths(session, interruption)
                }
            let items = try await describe(paths, session, interruption)
            if try await unlock(items, session, interruption) { continue }
            return items
        }
        throw .store(.keyringKeepsChanging)
    }

    nonisolated static func precedes(_ left: CredentialKey, _ right: CredentialKey) -> Bool {
        for (one, other) in [(left.service, right.service), (left.account, right.account)]
        where !one.utf8.elementsEqual(other.utf8) {
            return one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return left.kind.name < right.kind.name
    }
}

// MARK: - Report

extension KeyringCollection {
    func report(_ deadline: Deadline) async throws(StoreError) -> SecretServiceReport {
        return try await perform(deadline) { (session, interruption) async throws(KeyringFailure) in
            let process = await session.connection.processID(of: session.owner, interruption.trigger)
            let collections = try await session.property(
                "Collections", "ao", of: BusName.serviceInterface, at: BusName.service, interruption
            ).texts
            return SecretServiceReport(
                processIdentifier: process.flatMap(Int32.init(exactly:)),
                processName: process.flatMap(ProcessFacts.name),
                collectionCount: collections.count,
                lockedCount: try await lockedCount(collections, session, interruption),
                aliases: try await aliases(session, interruption),
                collection: try await state(session, interruption),
                isSessionEncrypted: session.codec.isEncrypted,
                hasSystemPrompter: try await hasPrompter(session, interruption))
        }
    }

    private func lockedCount(
        _ collections: [String], _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Int {
        let paths = Array(collections.prefix(Self.mostCollections))
        let arguments = [BusValue.string(BusName.collectionInterface.description), .string("Locked")]
        var count = 0
        for reply in try await session.each(paths, .getProperty, arguments, interruption) {
            guard let value = reply?[0].unboxed else { continue }
            guard value.is("b") else { throw .store(.keyringBrokeProtocol) }
            if value.boolean { count += 1 }
        }
        return count
    }

    private func aliases(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> [SecretServiceReport.Alias] {
        var found: [SecretServiceReport.Alias] = []
        for alias in SecretServiceReport.Alias.allCases {
            let reply = try await session.call(
                .readAlias, on: BusName.service, [.string(alias.rawValue)], interruption)
            if reply[0].text != BusName.nothing { found.append(alias) }
        }
        return found
    }

    private func state(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> SecretServiceReport.CollectionState {
        do throws(KeyringFailure) {
            let path = try await ownPath(session, interruption)
            if try await isLocked(session, interruption) { return .locked }
            let items = try await session.property(
                "Items", "ao", of: BusName.collectionInterface, at: path, interruption)
            return .open(itemCount: items.texts.count)
        } catch {
            if case .noCollection = error { return .missing }
            throw error
        }
    }

    // MARK: - The bus

    /// Whether a process has the prompter's name, or the bus would start it.
    private func hasPrompter(
        _ session: KeyringSession, _ interruption: CallInterruption
    ) async throws(KeyringFailure) -> Bool {
        let name = "org.gnome.keyring.SystemPrompter"
        return try await KeyringConnection.shared.presence(of: name, on: session.connection, interruption) != .absent
    }
}
