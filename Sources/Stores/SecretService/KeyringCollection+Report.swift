internal import LatchkeyCredentials
internal import LatchkeyDBus

extension KeyringCollection {
    func report(_ deadline: Deadline) async throws(StoreError) -> SecretServiceReport {
        let interruption = try Interruption(deadline)
        var report: SecretServiceReport?
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            let process = await session.connection.processID(of: session.owner, interruption.trigger)
            let collections = try await session.property(
                "Collections", "ao", of: BusName.serviceInterface, at: BusName.service, interruption
            ).texts
            report = SecretServiceReport(
                processIdentifier: process.flatMap(Int32.init(exactly:)),
                processName: process.flatMap(ProcessFacts.name),
                collectionCount: collections.count,
                lockedCount: try await lockedCount(collections, session, interruption),
                aliases: try await aliases(session, interruption),
                collection: try await state(session, interruption),
                isSessionEncrypted: session.codec.isEncrypted,
                hasSystemPrompter: try await hasPrompter(session, interruption))
        }
        guard let report else { throw .keyringWentAway }
        return report
    }

    private func lockedCount(
        _ collections: [String], _ session: KeyringSession, _ interruption: Interruption
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
        _ session: KeyringSession, _ interruption: Interruption
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
        _ session: KeyringSession, _ interruption: Interruption
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
        _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        let name = "org.gnome.keyring.SystemPrompter"
        return try await KeyringConnection.shared.presence(of: name, on: session.connection, interruption) != .absent
    }
}
