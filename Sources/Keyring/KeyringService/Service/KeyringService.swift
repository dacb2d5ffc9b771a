internal import LatchkeyCredentials
package import LatchkeyDBus
internal import Glibc
internal import LatchkeySystem
internal import Synchronization

/// org.freedesktop.secrets on a message bus, of any store of items.
///
/// One task does one call after another, so its state needs no locks. Clients take turns (`FairQueue`).
package final class KeyringService: Sendable {
    /// Why it ended.
    package enum End: Sendable, Hashable {
        case stopped
        /// The connection to the bus ended.
        case busLost
        /// Another program took the name over.
        case nameLost
    }

    package static let name = "org.freedesktop.secrets"

    private let connection: BusConnection
    private let intake: Intake
    private let worker: Task<Void, Never>

    /// Connects to a bus and answers calls from then on, by the connection's unique name.
    ///
    /// - Parameter address: as in DBUS_SESSION_BUS_ADDRESS.
    package static func start(
        _ configuration: KeyringConfiguration, at address: String
    ) async throws(BusFault) -> KeyringService {
        // A client may close the pipe that it has passed. This process starts no other program.
        _ = signal(SIGPIPE, SIG_IGN)
        let sessionItems = try mapError(
            { (error: StoreError) in BusFault(error, words: configuration.words) }, of: Keyring.makeSessionItems())
        let intake = Intake()
        let connection = try await BusConnection.open(address, intake)
        try await connection.watchDepartures()
        return KeyringService(configuration, sessionItems, connection, intake)
    }

    private init(
        _ configuration: KeyringConfiguration, _ sessionItems: ServedItems, _ connection: BusConnection,
        _ intake: Intake
    ) {
        self.connection = connection
        self.intake = intake
        worker = Task(executorPreference: intake.executor) {
            let keyring = Keyring(configuration, sessionItems: sessionItems, connection, intake.queue)
            while let work = await intake.queue.next() {
                let start = ContinuousClock.now
                await keyring.perform(work)
                // A client that never reads: the others' responses are behind what waits for it.
                if connection.sentByteCount > Intake.maximumUnsentByteCount { await connection.flush() }
                guard let client = work.client else { continue }
                // Less time is negligible: a call without a write or a long list.
                intake.queue.charge(client, turns: Int((ContinuousClock.now - start) / .milliseconds(2)))
            }
            keyring.end()
            // That waits for GDBus's thread, which this may be.
            await Task.detached { connection.close() }.value
        }
    }

    /// Such as `:1.7`.
    package var uniqueName: String { connection.uniqueName }

    /// Takes the name. Returns `nil`, or the owner that keeps it.
    ///
    /// - Parameter replacing: whether to replace an owner that allows it.
    package func own(_ name: String = KeyringService.name, replacing: Bool) async throws(BusFault) -> BusNameOwner? {
        // An owner may leave between the two calls.
        for _ in 0..<3 {
            if try await connection.own(name, replacing: replacing) { return nil }
            if let owner = try await connection.owner(of: name) { return owner }
        }
        throw BusFault(.failed, "the owner of the bus name keeps changing")
    }

    /// Waits until the service has ended, and says why.
    package func waitForEnd() async -> End {
        await worker.value
        return intake.end ?? .stopped
    }

    /// Ends it: calls that wait are not answered, the bus tells their callers.
    package func stop() { intake.finish(.stopped) }
}

/// A piece of work for the worker.
enum Work: Sendable {
    /// - Parameter waited: whether it found the vault locked at first.
    case call(BusCall, waited: Bool)
    /// The rest of one that takes long, after others had their turn.
    case rest(SecretsCall)
    /// A connection left the bus.
    case departure(String)
    /// Another process changed the store; of the opening with this number.
    case change(ItemChange, opening: Int)
    /// A person answered a prompt.
    case answer(prompt: String, Result<ServedItems, StoreError>)

    /// The client to charge for the time.
    var client: String? {
        switch self {
        case .call(let call, _): call.sender
        case .rest(let rest): rest.call.sender
        default: nil
        }
    }
}

/// Runs the worker: on the thread that hosts it, such as GDBus's while one call is all there is, which saves two changes
/// of threads; otherwise on Swift's own threads.
final class CallExecutor: TaskExecutor {
    /// The thread that hosts the worker now, as a number.
    private let host = Atomic<UInt>(0)

    /// Runs what `body` resumes on this thread, up to its next wait.
    func hosting<Result>(_ body: () -> Result) -> Result {
        host.store(UInt(pthread_self()), ordering: .relaxed)
        defer { host.store(0, ordering: .relaxed) }
        return body()
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if host.load(ordering: .relaxed) == UInt(pthread_self()) {
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
        } else {
            globalConcurrentExecutor.enqueue(job)
        }
    }
}

extension Keyring {
    /// The number of bytes of GDBus's buffer to overwrite after a call that brings a secret. This includes a refused
    /// call, because its secret may have crossed the bus in plain text. Bytes beyond the limit of a message stay.
    static func secretByteCount(of call: BusCall) -> Int {
        guard ["CreateItem", "SetSecret"].contains(call.member) else { return 0 }
        return min(call.arguments.byteCount + 4096, BusConnection.maximumMessageByteCount - 4096)
    }
}

/// Sorts what comes over the bus.
final class Intake: BusReceiver {
    let queue = FairQueue<Work>()
    let executor = CallExecutor()
    private let ended = Mutex<KeyringService.End?>(nil)

    /// The limit of a message: the largest secret with its other fields.
    static let maximumMessageByteCount = 9 << 20

    /// The limit of bytes that wait for the bus before the next call runs. Beyond eight times this limit, a refused
    /// call doesn't get a response.
    static let maximumUnsentByteCount = 1 << 20

    /// The memory of a waiting call without its arguments, mainly GDBus's message.
    private static let callCost = 4 << 10
    /// There are few of those: so that 300 wait of all clients, at most.
    private static let descriptorCost = 256 << 10

    var end: KeyringService.End? { ended.withLock { $0 } }

    func finish(_ end: KeyringService.End) {
        ended.withLock { $0 = $0 ?? end }
        queue.close()
    }

    // MARK: - BusReceiver

    func receive(_ call: BusCall, on connection: BusConnection) -> Bool {
        // GDBus responds to these itself.
        if call.interface == BusInterface.peer.name.description { return false }
        // No object has such a path, which isn't counted as an argument.
        guard call.path.utf8.count <= KeyringPath.maximumByteCount else {
            connection.reply(to: call, .failure(.unknownObject))
            return true
        }
        let byteCount = call.arguments.byteCount
        guard byteCount <= Self.maximumMessageByteCount else {
            connection.reply(to: call, .failure(BusFault(.limitsExceeded, "the message is too large")))
            let secretByteCount = Keyring.secretByteCount(of: call)
            if secretByteCount > 0 { connection.overwriteReadBuffer(secretByteCount) }
            return true
        }
        // Waiting calls would keep their descriptors open, and only one method accepts a descriptor.
        let descriptorCount = call.message.descriptorCount
        guard descriptorCount == 0 || (descriptorCount == 1 && call.path == Keyring.portalPath) else {
            connection.reply(to: call, .failure(.invalid("the method takes no descriptor")))
            return true
        }
        let cost = byteCount + Self.callCost + descriptorCount * Self.descriptorCost
        let offer = { self.queue.offer(.call(call, waited: false), of: call.sender, byteCount: cost) }
        // If more calls have arrived, they must be read first, because clients take turns.
        if !(connection.hasInput ? offer() : executor.hosting(offer)),
            connection.sentByteCount <= 8 * Self.maximumUnsentByteCount
        {
            connection.reply(to: call, .failure(.tooManyCalls))
        }
        return true
    }

    func receive(signal: BusMessage) {
        if let client = signal.departure {
            // Behind what it sent before it left.
            _ = queue.offer(.departure(client), of: client, isOwn: true)
        }
        guard signal.sender == "org.freedesktop.DBus", signal.member == "NameLost", signal.arguments.is("(s)") else {
            return
        }
        // Without the portal's name the keyring goes on.
        if signal.arguments[0].text == KeyringService.name { finish(.nameLost) }
    }

    func connectionDidEnd() { finish(.busLost) }
}
