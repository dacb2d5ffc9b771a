internal import LatchkeyDBus
internal import Testing
internal import TestServices

/// The bus closed the service's connection after a response with an array above 64 MiB, such as a search that found a
/// million items. On a bus with dbus-daemon's own limit, 32 MiB were enough.
struct MessageLimitTests {
    @Test func `secrets that don't fit into one response are an error, and the keyring stays`() async throws {
        let keyring = try await ServedKeyring()
        let run = try await keyring.python("hostile.py", ["bulk"])
        #expect(
            run.outputText == "\(8 << 20)\nLimitsExceeded\nLimitsExceeded\nTrue\n", "\(run.outputText)\(run.errorText)")
        #expect(try #require(keyring.service).isRunning)
    }

    /// In memory the list is 5% smaller than in a message.
    @Test func `a response is measured as the bus measures it`() async throws {
        let session = try await PrivateSession(
            .none, limits: ["max_message_size": BusConnection.maximumMessageByteCount])
        let server = try await BusConnection.open(session.busAddress, ListReceiver())
        let client = try await BusConnection.open(session.busAddress)
        let count = BusConnection.maximumMessageByteCount / ListReceiver.elementByteCount
        let method = BusMethod(interface: "org.latchkey.Test", name: "List", reply: "(as)")
        func ask(_ count: Int) async throws -> BusValue {
            try await client.call(
                method, on: "/", of: server.uniqueName, [.unsigned32(UInt32(count))], within: .seconds(120))
        }
        let fault = await #expect(throws: BusFault.self) { try await ask(count) }
        #expect(fault?.name == "org.freedesktop.DBus.Error.LimitsExceeded")
        let list = try await ask(count - 8)
        #expect(list[0].count == count - 8 && list.byteCount < BusConnection.maximumMessageByteCount * 24 / 25)
    }

    @Test func `a signal above the limit isn't sent, and the connection stays`() async throws {
        let session = try await PrivateSession(
            .none, limits: ["max_message_size": BusConnection.maximumMessageByteCount])
        let sender = try await BusConnection.open(session.busAddress)
        let bytes = [UInt8](repeating: 0, count: BusConnection.maximumMessageByteCount - 8)
        sender.emit("Large", of: "org.latchkey.Test", from: "/", [.bytes(bytes)])
        #expect(try await sender.hasOwner("org.freedesktop.DBus"))
    }
}

/// Responds with as many equal strings as the caller wants.
private final class ListReceiver: BusReceiver {
    /// The size of a string in a message: its length, 56 letters, a zero, and padding.
    static let elementByteCount = 4 + 56 + 1 + 3

    func receive(_ call: BusCall, on connection: BusConnection) -> Bool {
        let element = BusValue.string(String(repeating: "a", count: 56))
        let elements = Array(repeating: element, count: Int(call[0].unsigned32))
        connection.reply(to: call, .success(.tuple([.array(elements, of: "s")])))
        return true
    }

    func receive(signal: BusMessage) {}
    func connectionDidEnd() {}
}
