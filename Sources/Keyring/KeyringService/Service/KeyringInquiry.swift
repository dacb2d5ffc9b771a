package import LatchkeyDBus
internal import LatchkeySystem

/// The state of the keyring on a bus.
package struct KeyringInquiry: Sendable {
    /// The owner of the name, if there is one.
    package let owner: BusNameOwner?
    /// Whether the bus starts a keyring on demand.
    package let isActivatable: Bool
    /// The description by a Latchkey keyring.
    package let description: KeyringDescription?
    /// Whether the vault of a Latchkey keyring can't be used, though it isn't locked: it is missing, replaced, damaged or
    /// out of reach.
    package let isUnavailable: Bool
    /// Whether the owner didn't respond in time.
    package let isSilent: Bool

    /// Asks a bus, and starts nothing there.
    ///
    /// - Parameters:
    ///   - address: as in DBUS_SESSION_BUS_ADDRESS.
    ///   - duration: how long the owner may take to respond.
    package static func ask(at address: String, within duration: Duration) async throws(BusFault) -> KeyringInquiry {
        try await connected(to: address) { (connection) async throws(BusFault) in
            let owner = try await connection.owner(of: KeyringService.name)
            let isActivatable = try await connection.isActivatable(KeyringService.name)
            guard let owner else {
                return KeyringInquiry(
                    owner: nil, isActivatable: isActivatable, description: nil, isUnavailable: false, isSilent: false)
            }
            // Another keyring refuses the call.
            let reply = await Result<BusValue, BusFault>(
                awaiting: try await connection.call(
                    .describe, on: KeyringPath.root, of: owner.uniqueName, within: duration))
            let isSilent = if case .failure(let fault) = reply { fault.isOfGLib } else { false }
            let description = (try? reply.get()).flatMap { KeyringDescription($0[0]) }
            var isUnavailable = false
            if description?.isLocked == true {
                // The description doesn't say why, but the error of a call that needs the vault does. A database that is
                // out of reach takes longer than this to refuse.
                let fault = await failure(
                    BusFault.self,
                    awaiting: try await connection.call(
                        .getProperty, on: KeyringPath.collection(.alias("default")).text, of: owner.uniqueName,
                        [.string(BusInterface.collection.name.description), .string("Items")],
                        within: min(duration, .seconds(5))))
                isUnavailable = fault.map { $0.name != StaticString.isLocked.description } ?? false
            }
            return KeyringInquiry(
                owner: owner, isActivatable: isActivatable, description: description, isUnavailable: isUnavailable,
                isSilent: isSilent)
        }
    }

    /// Has a bus read again what it may start.
    package static func reload(at address: String) async throws(BusFault) {
        try await connected(to: address) { (connection) async throws(BusFault) in
            _ = try await connection.callBus("ReloadConfig", reply: "()")
        }
    }

    private static func connected<Result>(
        to address: String, _ body: (BusConnection) async throws(BusFault) -> Result
    ) async throws(BusFault) -> Result {
        let connection = try await BusConnection.open(address)
        defer { connection.close() }
        return try await body(connection)
    }
}

/// The description of our keyring for every program on its bus.
package struct KeyringDescription: Sendable, Hashable {
    /// Where its items are.
    package let place: String
    /// Whether the vault can't be used now, because it is locked or for another reason.
    package let isLocked: Bool
    /// Those that have a session with it, or have read something.
    package let clients: [KeyringClient]

    static let type: StaticString = "(sba(suss))"
}

extension KeyringDescription {
    /// Returns `nil` for an invalid description.
    init?(_ value: BusValue) {
        guard value.is(Self.type) else { return nil }
        place = value[0].text
        isLocked = value[1].boolean
        clients = value[2].children.prefix(1024).map { client in
            KeyringClient(
                uniqueName: client[0].text, processID: client[1].unsigned32 == 0 ? nil : client[1].unsigned32,
                unit: client[2].text.isEmpty ? nil : client[2].text,
                executable: client[3].text.isEmpty ? nil : client[3].text)
        }
    }

    var value: BusValue {
        let clients = clients.map { client -> BusValue in
            .tuple([
                .string(client.uniqueName), .unsigned32(client.processID ?? 0), .string(client.unit ?? ""),
                .string(client.executable ?? ""),
            ])
        }
        return .tuple([.string(place), .boolean(isLocked), .array(clients, of: "(suss)")])
    }
}
