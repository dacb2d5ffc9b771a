package import LatchkeySecrets
internal import LatchkeySystem
internal import Synchronization
internal import Glibc
package import LatchkeyDBus

/// A terminal that asks its person for the vault's passphrase when the keyring on the bus needs it; see
/// `Keyring+Unlocking`.
///
/// It responds to the one connection that it registered with, and to no other: any program of the user can call it.
package final class KeyringAgent: Sendable {
    /// Why it ended.
    package enum End: Sendable, Hashable {
        case stopped
        /// The connection to the bus ended.
        case busLost
        /// The service ended, or lost its name.
        case serviceLost
    }

    private let connection: BusConnection
    private let intake: AgentIntake
    private let worker: Task<Void, Never>

    /// Asks the person. Returns the passphrase, or `nil` for none. Gives up when the keyring no longer waits for it.
    package typealias Question =
        @Sendable (
            _ program: String, _ isRetry: Bool, _ isWanted: () -> Bool
        ) async -> Secret<Passphrase>?

    /// Connects to a bus, and registers with the owner of the keyring's name, which the bus starts if it can. Returns
    /// `nil` if no Latchkey keyring is there.
    ///
    /// - Parameters:
    ///   - address: as in DBUS_SESSION_BUS_ADDRESS.
    ///   - ask: asks the person for a program, whose path is empty if it isn't known; `isRetry` after a wrong passphrase.
    package static func start(at address: String, _ ask: @escaping Question) async throws(BusFault) -> KeyringAgent? {
        // The keyring may close the pipe that it has passed.
        _ = signal(SIGPIPE, SIG_IGN)
        let intake = AgentIntake()
        let connection = try await BusConnection.open(address, intake)
        // One that doesn't start isn't there.
        _ = try? await connection.callBus(
            "StartServiceByName", [.string(KeyringService.name), .unsigned32(0)], reply: "(u)")
        guard let service = try await connection.owner(of: KeyringService.name)?.uniqueName else { return nil }
        intake.service.withLock { $0 = service }
        try await connection.watchDepartures()
        let others = [StaticString.unknownMethod, .unknownInterface, .unknownObject].map(\.description)
        let registered = try await nilIf(
            { (fault: BusFault) in others.contains(fault.name) },
            awaiting: try await connection.call(.registerAgent, on: KeyringPath.root, of: service))
        return registered == nil ? nil : KeyringAgent(connection, intake, ask)
    }

    private init(_ connection: BusConnection, _ intake: AgentIntake, _ ask: @escaping Question) {
        self.connection = connection
        self.intake = intake
        worker = Task {
            while let call = await intake.queue.next() {
                connection.reply(to: call, .success(.tuple([.boolean(await Self.answer(call, intake, ask))])))
            }
            connection.close()
        }
    }

    /// Whether a passphrase was written.
    private static func answer(_ call: BusCall, _ intake: AgentIntake, _ ask: Question) async -> Bool {
        // A keyring of an earlier version doesn't name the program.
        let isNamed = call.arguments.is("(hbs)")
        guard isNamed || call.arguments.is("(hb)"), let descriptor = call.message.descriptor else { return false }
        defer { close(descriptor) }
        let program = isNamed ? call.arguments[2].text : ""
        let isWanted = {
            // `poll` reports an error for a pipe without its reader (pipe(7)), although no event is requested.
            var pipe = pollfd(fd: descriptor, events: 0, revents: 0)
            return unsafe intake.end.withLock { $0 == nil } && poll(&pipe, 1, 0) == 0
        }
        guard let passphrase = await ask(program, call.arguments[1].boolean, isWanted) else {
            return false
        }
        var sink = FileDescriptorSecretSink(descriptor: descriptor)
        return (try? passphrase.pour(into: &sink)) != nil
    }

    package func waitForEnd() async -> End {
        await worker.value
        return intake.end.withLock { $0 } ?? .stopped
    }

    package func stop() { intake.finish(.stopped) }
}

private final class AgentIntake: BusReceiver {
    let queue = FairQueue<BusCall>()
    /// The unique name of the connection that may ask.
    let service = Mutex<String?>(nil)
    let end = Mutex<KeyringAgent.End?>(nil)

    func finish(_ reason: KeyringAgent.End) {
        end.withLock { if $0 == nil { $0 = reason } }
        queue.close()
    }

    func receive(_ call: BusCall, on connection: BusConnection) -> Bool {
        guard call.sender == service.withLock({ $0 }), call.path == Keyring.agentPath,
            call.member == BusMethod.ask.name.description, call.interface == BusMethod.ask.interface.description
        else {
            connection.reply(to: call, .failure(BusFault(.accessDenied, "only the keyring may ask")))
            return true
        }
        return queue.offer(call, of: call.sender)
    }

    func receive(signal: BusMessage) {
        if let left = signal.departure, left == service.withLock({ $0 }) { finish(.serviceLost) }
    }

    func connectionDidEnd() { finish(.busLost) }
}
