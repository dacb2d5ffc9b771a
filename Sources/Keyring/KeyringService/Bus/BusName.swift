internal import LatchkeySystem

/// Who owns a name on the bus.
package struct BusNameOwner: Sendable, Hashable {
    /// Such as `:1.7`.
    package let uniqueName: String
    package let processID: UInt32?
    /// The path of its program; of another user's or an ended process it can't be told.
    package let executable: String?
}

extension BusConnection {
    private static let bus = "org.freedesktop.DBus"
    private static let path = "/org/freedesktop/DBus"

    func callBus(_ member: StaticString, _ arguments: [BusValue], type: StaticString) async throws(BusFault) -> BusValue
    {
        let reply = try await call(Self.bus, Self.path, "org.freedesktop.DBus", member, arguments)
        guard reply.is(type) else { throw BusFault(.failed, "the bus broke its own protocol") }
        return reply
    }

    /// Takes a name, and returns whether it is this connection's now.
    ///
    /// - Parameter replacing: whether it is taken from an owner that lets it be taken.
    func own(_ name: String, replacing: Bool) async throws(BusFault) -> Bool {
        // Others may replace this program, and it never waits in line: that a name becomes one's own later on is no
        // news that anybody reads (D-Bus Specification, "RequestName").
        let (allowsReplacement, replaces, doesNotQueue): (UInt32, UInt32, UInt32) = (1, 2, 4)
        let flags = allowsReplacement | doesNotQueue | (replacing ? replaces : 0)
        let reply = try await callBus("RequestName", [.string(name), .unsigned32(flags)], type: "(u)")[0].unsigned32
        let (isOwner, wasOwner): (UInt32, UInt32) = (1, 4)
        return reply == isOwner || reply == wasOwner
    }

    /// Who owns a name, or `nil` when nobody does.
    func owner(of name: String) async throws(BusFault) -> BusNameOwner? {
        let reply = try await nilIf(
            { (fault: BusFault) in fault.name == "org.freedesktop.DBus.Error.NameHasNoOwner" },
            awaiting: try await callBus("GetNameOwner", [.string(name)], type: "(s)"))
        guard let reply else { return nil }
        let uniqueName = reply[0].text
        let processID = await processID(of: uniqueName)
        return BusNameOwner(
            uniqueName: uniqueName, processID: processID, executable: processID.flatMap(ProcessFacts.executable))
    }

    /// The process of a connection, as the bus saw it connect; `nil` when it is gone.
    func processID(of uniqueName: String) async -> UInt32? {
        let reply = try? await callBus("GetConnectionUnixProcessID", [.string(uniqueName)], type: "(u)")
        return reply?[0].unsigned32
    }

    /// How many bytes the bus has in memory for a connection that doesn't read them; `nil` where the bus doesn't tell.
    func unreadByteCount(of uniqueName: String) async -> Int? {
        let reply = try? await call(
            Self.bus, Self.path, "org.freedesktop.DBus.Debug.Stats", "GetConnectionStats", [.string(uniqueName)])
        return reply?[0].property("OutgoingBytes", "u").map { Int($0.unsigned32) }
    }

    /// Hears of each connection that leaves the bus, as the signal NameOwnerChanged.
    func watchDepartures() async throws(BusFault) {
        let rule =
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',path='/org/freedesktop/DBus',arg2=''"
        _ = try await callBus("AddMatch", [.string(rule)], type: "()")
    }
}
