internal import CLatchkeyLibpq
internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

/// One connection to a database. It sends several statements, and then waits for their results together (libpq, section
/// 34.5, "Pipeline Mode").
///
/// Every wait ends with the cancellation, because the server may never answer.
@safe final class PostgreSQLConnection: @unchecked Sendable {
    // Sendable: its owner lends it to one thread at a time; see PostgreSQLRowTable.
    let address: PostgreSQLAddress
    /// Whether something between us and the server, such as pgbouncer, hands our transactions to changing connections:
    /// nothing that a session keeps can then be used (prepared statements, LISTEN).
    private(set) var isPooled = true
    /// Whether the server's last answer came in the time that a caller's thread waits.
    private(set) var isNear = false
    /// Whether the connection can no longer be used.
    private(set) var isLost = false

    private let pointer: OpaquePointer
    private var prepared: Set<String> = []
    /// The requests without a result so far: a preparation's name, or `nil` for a statement.
    private var expected: [String?] = []
    /// Whether the end of the batch was sent and hasn't been answered yet.
    private var isSynchronizing = false
    /// Whether a `COMMIT` was answered since `commit` began.
    private var hasCommitted = false
    /// Whether the server sent a warning with that answer.
    private var hasCommitWarned = false
    /// Whether the server has sent a warning since the last answer.
    private let hasWarned: UnsafeMutablePointer<Bool>
    private var unansweredByteCount = 0
    /// How often something was read of the present answers, and how much may have come in when they end.
    private var readCount = 0
    private var acceptedByteCount: UInt64 = 0

    /// The limit of bytes to send before reading answers, because libpq keeps them in memory.
    private static let maximumUnansweredByteCount = 4 << 20
    private static let maximumUnansweredCount = 200
    /// The limit of the answer to one batch of statements: far more than a vault's rows need.
    private static let maximumAnswerByteCount: UInt64 = 128 << 20

    /// Connects to the first server that fits. Throws `unavailable` when none does before the deadline, and `busy` when
    /// one lets us in and then hangs up.
    init(_ address: PostgreSQLAddress, _ cancellation: Cancellation) throws(StoreError) {
        self.address = address
        unsafe pointer = try PostgreSQLHandshake(address, cancellation).connect()
        unsafe hasWarned = .allocate(capacity: 1)
        unsafe hasWarned.initialize(to: false)
        unsafe PQsetNoticeReceiver(
            pointer,
            { context, result in
                // PG_DIAG_SEVERITY_NONLOCALIZED.
                let severity = unsafe PQresultErrorField(result, Int32(UInt8(ascii: "V")))
                if let severity = unsafe severity, unsafe strcmp(severity, "WARNING") == 0 {
                    unsafe context?.assumingMemoryBound(to: Bool.self).pointee = true
                }
            }, hasWarned)
        unsafe PQsetnonblocking(pointer, 1)
        unsafe PQenterPipelineMode(pointer)
        // `deinit` ends it where this throws.
        let backend = try ask(Self.backend, [], cancellation).integer(0, 0)
        isPooled = backend != Int64(unsafe PQbackendPID(pointer))
        // In a pool the settings of a session would affect others.
        if !isPooled { _ = try ask(PostgreSQLSchema.settings(ofTransaction: false), [], cancellation) }
    }

    deinit {
        unsafe PQfinish(pointer)
        unsafe hasWarned.deallocate()
    }

    private static let backend = PostgreSQLQuery("", "SELECT pg_catalog.pg_backend_pid()")

    // MARK: - What it is

    var isEncrypted: Bool { unsafe PQsslInUse(pointer) == 1 }
    var serverVersion: Int { Int(unsafe PQserverVersion(pointer)) }

    /// Whether it leads to a socket or to the loopback interface.
    var isLocal: Bool {
        guard let host = unsafe PQhost(pointer), address.parameters["hostaddr"] == nil else { return false }
        let name = unsafe String(cString: host)
        return name.isEmpty || name.hasPrefix("/") || HostName.isLoopback(name)
    }

    // MARK: - Statements

    /// Sends a statement, without waiting for its answer. The next `ask` or `settle` reports its outcome.
    func send(
        _ query: PostgreSQLQuery, _ values: [PostgreSQLValue], _ cancellation: Cancellation
    ) throws(StoreError) {
        if expected.count >= Self.maximumUnansweredCount || unansweredByteCount > Self.maximumUnansweredByteCount {
            try settle(cancellation)
        }
        // Behind a pool another server process may run the next transaction: nothing there has a name.
        let name = isPooled ? "" : query.name
        if isPooled || !prepared.contains(name) {
            let types = query.types.map(\.rawValue)
            let sent = unsafe PQsendPrepare(
                pointer, name, address.schema.filled(in: query.sql), Int32(types.count), types)
            guard sent == 1 else { throw lost() }
            expected.append(name)
            prepared.insert(name)
        }
        var block: [UInt8] = []
        let lengths = values.map { Int32($0.append(to: &block)) }
        let formats = [Int32](repeating: 1, count: values.count)
        let sent = unsafe block.withUnsafeBytes { block in
            // An empty array may lack an address, but a null pointer means NULL.
            let start = unsafe block.baseAddress ?? UnsafeRawPointer(bitPattern: 1)
            var offset = 0
            let pointers: [UnsafePointer<CChar>?] = unsafe lengths.map { length in
                defer { offset += Int(length) }
                return unsafe (start! + offset).assumingMemoryBound(to: CChar.self)
            }
            return unsafe PQsendQueryPrepared(
                pointer, name, Int32(values.count), pointers, lengths, formats, 1)
        }
        guard sent == 1 else { throw lost() }
        expected.append(nil)
        unansweredByteCount += block.count
    }

    /// Sends a statement and returns its rows.
    ///
    /// - Parameter isQuick: throws `busy` when the answer takes longer than ten milliseconds; it is then for `settle`.
    func ask(
        _ query: PostgreSQLQuery, _ values: [PostgreSQLValue], _ cancellation: Cancellation, isQuick: Bool = false
    ) throws(StoreError) -> PostgreSQLResult {
        let start = ContinuousClock.now
        defer { isNear = ContinuousClock.now - start < .milliseconds(10) }
        try send(query, values, cancellation)
        guard let last = try settle(cancellation, isQuick: isQuick) else { throw lost() }
        return last
    }

    /// Whether there are answers to come.
    var isUnsettled: Bool { !expected.isEmpty || isSynchronizing }

    /// Waits for all that was sent, and returns what the last statement gave. Throws what the first one that failed
    /// says; those behind it had no effect.
    @discardableResult
    func settle(_ cancellation: Cancellation, isQuick: Bool = false) throws(StoreError) -> PostgreSQLResult? {
        if !isUnsettled { return nil }
        if !isSynchronizing {
            guard unsafe PQpipelineSync(pointer) == 1 else { throw lost() }
            isSynchronizing = true
        }
        readCount = 0
        var last: PostgreSQLResult?
        var failure: StoreError?
        while let preparation = expected.first {
            // Each answer is followed by an empty one.
            while let answer = try next(cancellation, isQuick) {
                switch answer.status {
                case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                    // A warning comes before the answer that it belongs to.
                    if answer.isCommit { (hasCommitted, hasCommitWarned) = (true, unsafe hasWarned.pointee) }
                    unsafe hasWarned.pointee = false
                    if preparation == nil { last = consume answer }
                case PGRES_PIPELINE_ABORTED: if let preparation { prepared.remove(preparation) }
                case PGRES_FATAL_ERROR:
                    if let preparation { prepared.remove(preparation) }
                    let state = answer.sqlState
                    guard failure == nil else { continue }
                    if state.isEmpty { throw lost() }
                    let (error, endsConnection) = StoreError.database(state, address)
                    if endsConnection { isLost = true }
                    failure = error
                default: throw lost()
                }
            }
            expected.removeFirst()
        }
        guard let end = try next(cancellation, isQuick), end.status == PGRES_PIPELINE_SYNC else { throw lost() }
        isSynchronizing = false
        unansweredByteCount = 0
        if let failure { throw failure }
        return last
    }

    // MARK: - Waiting

    /// The next answer; `nil` for the empty one between two.
    private func next(_ cancellation: Cancellation, _ isQuick: Bool) throws(StoreError) -> PostgreSQLResult? {
        while unsafe PQisBusy(pointer) == 1 {
            let rest = unsafe PQflush(pointer)
            guard rest >= 0 else { throw lost() }
            let events = rest == 1 ? Int16(POLLIN | POLLOUT) : Int16(POLLIN)
            if isQuick {
                var entry = pollfd(fd: unsafe PQsocket(pointer), events: events, revents: 0)
                // Less than a tick of the kernel's has the processor's timer set anew, for half the time of a read.
                guard unsafe poll(&entry, 1, 10) > 0 else { throw StoreError(.busy, "the database is slow") }
            } else {
                try wait(for: events, cancellation)
            }
            guard unsafe PQconsumeInput(pointer) == 1 else { throw lost() }
            try boundAnswer()
        }
        guard let result = unsafe PQgetResult(pointer) else { return nil }
        return unsafe PostgreSQLResult(result)
    }

    /// Throws `corrupted` when an answer doesn't end: libpq collects rows without any bound. A short one isn't
    /// measured.
    private func boundAnswer() throws(StoreError) {
        readCount += 1
        guard readCount >= 16 else { return }
        let count = unsafe Self.receivedByteCount(PQsocket(pointer))
        if readCount == 16 { acceptedByteCount = count + Self.maximumAnswerByteCount }
        guard count <= acceptedByteCount else {
            isLost = true
            throw .vaultCorrupted("the database sent more data than a vault has")
        }
    }

    /// Waits until the socket is ready. After a cancelled wait the connection's state is unknown.
    func wait(for events: Int16, _ cancellation: Cancellation) throws(StoreError) {
        var wait = LongWait()
        defer { wait.end() }
        while true {
            wait.goesOn("waiting for the database")
            if let error = failure(StoreError.self, of: try cancellation.check()) {
                isLost = true
                throw error
            }
            if cancellation.deadline.poll(unsafe PQsocket(pointer), for: events) { return }
        }
    }

    /// Marks the connection as lost, and returns the error to throw.
    func lost() -> StoreError {
        isLost = true
        return .connectionLost
    }

    func giveUp() { isLost = true }

    /// Whether the server has closed it, as far as is known here: an idle connection has nothing to be read.
    var isStale: Bool {
        if isLost { return true }
        var entry = pollfd(fd: unsafe PQsocket(pointer), events: Int16(POLLIN), revents: 0)
        return unsafe poll(&entry, 1, 0) != 0
    }

    // MARK: - Ends of transactions

    /// Commits, and then runs a separate statement, whose failure changes nothing.
    ///
    /// Throws `unavailable` where the server undid the transaction instead, as it does after a statement that failed, and
    /// `timedOut` where it warns that another server may not have the change.
    func commit(
        then query: PostgreSQLQuery, _ values: [PostgreSQLValue], _ cancellation: Cancellation
    ) throws(StoreError) {
        (hasCommitted, hasCommitWarned) = (false, false)
        let outcome = Result { () throws(StoreError) in
            try send(PostgreSQLSchema.commit, [], cancellation)
            try send(query, values, cancellation)
            _ = try settle(cancellation)
        }
        // A person ended the wait for a synchronous standby, for example.
        if hasCommitWarned { throw .commitDoubtful }
        if hasCommitted { return }
        try outcome.get()
        throw StoreError(.unavailable, "the database rolled the change back")
    }

    // MARK: - Notifications

    /// The notifications of others since the last call.
    func notifications() throws(StoreError) -> [String] {
        guard unsafe PQconsumeInput(pointer) == 1 else { throw lost() }
        var texts: [String] = []
        while let notification = unsafe PQnotifies(pointer) {
            defer { unsafe PQfreemem(notification) }
            if let extra = unsafe notification.pointee.extra { unsafe texts.append(String(cString: extra)) }
        }
        return texts
    }

    /// Drops libpq's collected notifications without a listener, because a server could send them endlessly.
    func dropNotifications() {
        while let notification = unsafe PQnotifies(pointer) { unsafe PQfreemem(notification) }
    }

    /// Waits for news; false when the bell rang.
    func waitForInput(orFor bell: Int32) -> Bool {
        var entries = [
            pollfd(fd: unsafe PQsocket(pointer), events: Int16(POLLIN), revents: 0),
            pollfd(fd: bell, events: Int16(POLLIN), revents: 0),
        ]
        while unsafe poll(&entries, 2, -1) < 0 && errno == EINTR {}
        return entries[1].revents == 0
    }

    // MARK: - Parts

    /// The received bytes of a TCP socket: `tcpi_bytes_received`, the 17th word of `struct tcp_info` (linux/tcp.h;
    /// glibc's ends before it). Returns 0 for a local socket, which belongs to this machine's server.
    static func receivedByteCount(_ socket: Int32) -> UInt64 {
        var words = [UInt64](repeating: 0, count: 17)
        var length = socklen_t(words.count * 8)
        return unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, &words, &length) == 0 ? words[16] : 0
    }
}

extension Deadline {
    /// Waits for a descriptor, 50 ms at most: a cancellation has none to wait for. Returns whether it is ready.
    func poll(_ descriptor: Int32, for events: Int16) -> Bool {
        var entry = pollfd(fd: descriptor, events: events, revents: 0)
        let (seconds, attoseconds) = remaining.components
        let rest = min(50, seconds * 1000 + attoseconds / 1_000_000_000_000_000 + 1)
        return unsafe Glibc.poll(&entry, 1, Int32(rest)) != 0
    }
}
