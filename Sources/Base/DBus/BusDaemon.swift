internal import Glibc
internal import LatchkeySystem

/// The owner of a name on the bus.
package struct BusNameOwner: Sendable, Hashable {
    /// Such as `:1.7`.
    package let uniqueName: String
    package let processID: UInt32?
    /// The path of the owner's program; `nil` for a process of another user or an ended one.
    package let executable: String?
}

/// Calls to the bus itself (D-Bus Specification, "Message Bus Messages"). It responds whatever the services do.
extension BusConnection {
    /// Whether the environment has the address of a session bus. Otherwise GLib would start a bus if a display exists.
    package static var hasAddress: Bool {
        if let address = unsafe getenv("DBUS_SESSION_BUS_ADDRESS") { return unsafe address.pointee != 0 }
        guard let folder = unsafe getenv("XDG_RUNTIME_DIR") else { return false }
        // GLib takes no other for the user's bus.
        var found = stat()
        return unsafe stat(String(cString: folder) + "/bus", &found) == 0 && found.st_mode & S_IFMT == S_IFSOCK
            && found.st_uid == geteuid()
    }

    /// The bus's own identifier, which lasts as long as the bus. Each address of a bus has another one (D-Bus
    /// Specification, "org.freedesktop.DBus.GetId").
    @GLibThread package func busIdentifier(_ trigger: Trigger? = nil) async throws(BusFault) -> String {
        try await callBus("GetId", reply: "(s)", trigger)[0].text
    }

    /// - Parameter trigger: ends the call; by default it may take ten seconds.
    @GLibThread package func callBus(
        _ name: StaticString, of interface: StaticString = "org.freedesktop.DBus", _ arguments: [BusValue] = [],
        reply: StaticString, _ trigger: Trigger? = nil
    ) async throws(BusFault) -> BusValue {
        let method = BusMethod(interface: interface, name: name, reply: reply)
        let (path, bus) = ("/org/freedesktop/DBus", "org.freedesktop.DBus")
        guard let trigger else { return try await call(method, on: path, of: bus, arguments) }
        return try await call(method, on: path, of: bus, arguments, trigger)
    }

    // MARK: - Names

    @GLibThread package func hasOwner(
        _ name: String, _ trigger: Trigger? = nil
    ) async throws(BusFault) -> Bool {
        try await callBus("NameHasOwner", [.string(name)], reply: "(b)", trigger)[0].boolean
    }

    /// Whether the bus starts a program when another program calls a name.
    @GLibThread package func isActivatable(
        _ name: String, _ trigger: Trigger? = nil
    ) async throws(BusFault) -> Bool {
        try await callBus("ListActivatableNames", reply: "(as)", trigger)[0].texts.contains(name)
    }

    /// Requests a name, and returns whether this connection owns it now.
    ///
    /// - Parameter replacing: whether to replace an owner that allows that.
    package func own(_ name: String, replacing: Bool) async throws(BusFault) -> Bool {
        // Other programs may replace this one. It never waits in the queue, because nothing here reads the signal that a
        // name was acquired later (D-Bus Specification, "RequestName").
        let (allowsReplacement, replaces, doesNotQueue): (UInt32, UInt32, UInt32) = (1, 2, 4)
        let flags = allowsReplacement | doesNotQueue | (replacing ? replaces : 0)
        let reply = try await callBus("RequestName", [.string(name), .unsigned32(flags)], reply: "(u)")[0].unsigned32
        let (isOwner, wasOwner): (UInt32, UInt32) = (1, 4)
        return reply == isOwner || reply == wasOwner
    }

    /// Returns the owner of a name, or `nil` if the name has no owner.
    package func owner(of name: String) async throws(BusFault) -> BusNameOwner? {
        let reply = try await nilIf(
            { (fault: BusFault) in fault.name == "org.freedesktop.DBus.Error.NameHasNoOwner" },
            awaiting: try await callBus("GetNameOwner", [.string(name)], reply: "(s)"))
        guard let uniqueName = reply?[0].text else { return nil }
        let processID = await processID(of: uniqueName)
        return BusNameOwner(
            uniqueName: uniqueName, processID: processID, executable: processID.flatMap(ProcessFacts.executable))
    }

    // MARK: - Connections

    /// The process that made a connection, according to the bus; `nil` if the connection is gone.
    package func processID(of uniqueName: String, _ trigger: Trigger? = nil) async -> UInt32? {
        let reply = try? await callBus("GetConnectionUnixProcessID", [.string(uniqueName)], reply: "(u)", trigger)
        return reply?[0].unsigned32
    }

    /// How many bytes the bus has in memory for a connection that doesn't read them, and how many of this connection's
    /// for any that doesn't; 0 where the bus doesn't tell.
    package func unreadByteCounts(of uniqueName: String) async -> (sentToIt: Int, sentByIt: Int) {
        let reply = try? await callBus(
            "GetConnectionStats", of: "org.freedesktop.DBus.Debug.Stats", [.string(uniqueName)], reply: "(a{sv})")
        let count = { (name: StaticString) in Int(reply?[0].property(name, "u")?.unsigned32 ?? 0) }
        return (count("OutgoingBytes"), count("IncomingBytes"))
    }

    /// Asks for a signal of each connection that leaves the bus; see `BusMessage.departure`.
    package func watchDepartures() async throws(BusFault) {
        let rule =
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
            + "member='NameOwnerChanged',path='/org/freedesktop/DBus',arg2=''"
        _ = try await callBus("AddMatch", [.string(rule)], reply: "()")
    }
}

extension BusMessage {
    /// The unique name of a connection that has left the bus, of the signal that says so.
    package var departure: String? {
        guard sender == "org.freedesktop.DBus", member == "NameOwnerChanged", arguments.is("(sss)"),
            arguments[2].text.isEmpty, arguments[0].text.hasPrefix(":")
        else { return nil }
        return arguments[0].text
    }
}

/// The description of a process from /proc, for people.
package enum ProcessFacts {
    /// The path of the program; its name if the process hides the path, as gnome-keyring and Latchkey do; `nil` if the
    /// process has ended.
    package static func executable(of processID: UInt32) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(processID)/exe", &target, target.count)
        guard count > 0 else { return name(of: processID) }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The first 15 letters of its program's name (proc(5)).
    package static func name(of processID: UInt32) -> String? {
        guard let bytes = try? PrivateFile.read("/proc/\(processID)/comm", limit: 64) else { return nil }
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// The last part of its control group, such as `app-firefox.scope` (cgroups(7)).
    package static func unit(of processID: UInt32) -> String? {
        guard let bytes = try? PrivateFile.read("/proc/\(processID)/cgroup", limit: 65536) else { return nil }
        let line = bytes.split(separator: 0x0A).first { $0.starts(with: "0::/".utf8) }
        guard let last = line?.split(separator: 0x2F).last, last.first != 0x30 else { return nil }
        return String(decoding: last, as: UTF8.self)
    }
}
