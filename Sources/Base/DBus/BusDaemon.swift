internal import Glibc
internal import LatchkeySystem

/// Who owns a name on the bus.
package struct BusNameOwner: Sendable, Hashable {
    /// Such as `:1.7`.
    package let uniqueName: String
    package let processID: UInt32?
    /// The path of its program; of another user's or an ended process it can't be told.
    package let executable: String?
}

/// Calls to the bus itself (D-Bus Specification, "Message Bus Messages"). It responds whatever the services do.
extension BusConnection {
    /// Whether the environment says where a session bus is. Without that, GLib would start one where there is a
    /// display.
    package static var hasAddress: Bool {
        if let address = unsafe getenv("DBUS_SESSION_BUS_ADDRESS") { return unsafe address.pointee != 0 }
        guard let folder = unsafe getenv("XDG_RUNTIME_DIR") else { return false }
        return unsafe access(String(cString: folder) + "/bus", F_OK) == 0
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

    /// Whether the bus starts a program for whoever calls a name.
    @GLibThread package func isActivatable(
        _ name: String, _ trigger: Trigger? = nil
    ) async throws(BusFault) -> Bool {
        try await callBus("ListActivatableNames", reply: "(as)", trigger)[0].texts.contains(name)
    }

    /// Takes a name, and returns whether it is this connection's now.
    ///
    /// - Parameter replacing: whether it is taken from an owner that lets it be taken.
    package func own(_ name: String, replacing: Bool) async throws(BusFault) -> Bool {
        // Others may replace this program, and it never waits in line: that a name becomes one's own later on is no
        // news that anybody reads (D-Bus Specification, "RequestName").
        let (allowsReplacement, replaces, doesNotQueue): (UInt32, UInt32, UInt32) = (1, 2, 4)
        let flags = allowsReplacement | doesNotQueue | (replacing ? replaces : 0)
        let reply = try await callBus("RequestName", [.string(name), .unsigned32(flags)], reply: "(u)")[0].unsigned32
        let (isOwner, wasOwner): (UInt32, UInt32) = (1, 4)
        return reply == isOwner || reply == wasOwner
    }

    /// Who owns a name, or `nil` when nobody does.
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

    /// The process of a connection, as the bus saw it connect; `nil` when it is gone.
    package func processID(of uniqueName: String, _ trigger: Trigger? = nil) async -> UInt32? {
        let reply = try? await callBus("GetConnectionUnixProcessID", [.string(uniqueName)], reply: "(u)", trigger)
        return reply?[0].unsigned32
    }

    /// How many bytes the bus has in memory for a connection that doesn't read them; `nil` where the bus doesn't tell.
    package func unreadByteCount(of uniqueName: String) async -> Int? {
        let reply = try? await callBus(
            "GetConnectionStats", of: "org.freedesktop.DBus.Debug.Stats", [.string(uniqueName)], reply: "(a{sv})")
        return reply?[0].property("OutgoingBytes", "u").map { Int($0.unsigned32) }
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

/// What /proc tells of a process, for people to read.
package enum ProcessFacts {
    /// The path of its program; of a process that lets nobody look at it, as gnome-keyring and ours, its name. Of one
    /// that ended it can't be told.
    package static func executable(of processID: UInt32) -> String? {
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = unsafe readlink("/proc/\(processID)/exe", &target, target.count)
        guard count > 0 else { return name(of: processID) }
        return String(decoding: target.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// The first 15 letters of its program's name (proc(5)).
    package static func name(of processID: UInt32) -> String? {
        let descriptor = unsafe open("/proc/\(processID)/comm", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = try? DescriptorBytes.all(of: descriptor, limit: 64) else { return nil }
        return String(decoding: bytes.prefix { $0 != 0x0A }, as: UTF8.self)
    }

    /// The last part of its control group, such as `app-firefox.scope` (cgroups(7)).
    package static func unit(of processID: UInt32) -> String? {
        let descriptor = unsafe open("/proc/\(processID)/cgroup", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = try? DescriptorBytes.all(of: descriptor, limit: 65536) else { return nil }
        let line = bytes.split(separator: 0x0A).first { $0.starts(with: "0::/".utf8) }
        guard let last = line?.split(separator: 0x2F).last, last.first != 0x30 else { return nil }
        return String(decoding: last, as: UTF8.self)
    }
}
