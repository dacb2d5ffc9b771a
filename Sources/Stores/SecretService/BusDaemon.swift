internal import LatchkeyCredentials
internal import Glibc
internal import LatchkeySystem

/// Calls to the bus itself (D-Bus Specification, "Message Bus Messages"). It replies whatever the services do.
extension BusConnection {
    @GLibThread func callBus(
        _ method: BusMethod, _ arguments: [Variant], _ interruption: Interruption
    ) async throws(KeyringFailure) -> Variant {
        try interruption.check()
        let result = await interruption.wait(
            call(
                method, on: "/org/freedesktop/DBus", of: "org.freedesktop.DBus", .tuple(arguments),
                trigger: interruption.trigger))
        return try mapError(KeyringFailure.bus, of: reply(result))
    }

    /// Whether a program has a name, or the bus would start one that takes it.
    @GLibThread func presence(
        of name: String, _ interruption: Interruption
    ) async throws(KeyringFailure) -> SecretServicePresence {
        if try await callBus(.nameHasOwner, [.string(name)], interruption)[0].boolean { return .running }
        let startable = try await callBus(.activatableNames, [], interruption)[0].texts
        return startable.contains(name) ? .startable : .absent
    }

    /// Whether the environment says where a session bus is. Without that, GLib would start one where there is a
    /// display.
    static var hasAddress: Bool {
        if let address = unsafe getenv("DBUS_SESSION_BUS_ADDRESS") { return unsafe address.pointee != 0 }
        guard let folder = unsafe getenv("XDG_RUNTIME_DIR") else { return false }
        return unsafe access(String(cString: folder) + "/bus", F_OK) == 0
    }
}

extension BusMethod {
    static let processIdentifier = BusMethod(
        interface: "org.freedesktop.DBus", name: "GetConnectionUnixProcessID", reply: "(u)")
    static let ping = BusMethod(interface: "org.freedesktop.DBus.Peer", name: "Ping", reply: "()")
    fileprivate static let nameHasOwner = BusMethod(
        interface: "org.freedesktop.DBus", name: "NameHasOwner", reply: "(b)")
    fileprivate static let activatableNames = BusMethod(
        interface: "org.freedesktop.DBus", name: "ListActivatableNames", reply: "(as)")
}
