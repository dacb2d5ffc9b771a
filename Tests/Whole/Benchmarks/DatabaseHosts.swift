internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeyVault
internal import Synchronization
internal import TestServices

/// Hosts that share vaults in one database, several of them a process. Each has ten sessions and works as the real client
/// does: a read, a lease, a read, a mark, a request that is answered at once, a save, the lease's end.
///
/// A process runs what its environment says, so that no host waits for another one's threads.
struct DatabaseHosts {
    static let sessionsEach = 10
    private static let variable = "LATCHKEY_BENCHMARK_HOSTS"

    let first: Int
    let count: Int
    let seconds: Int
    /// How many stages there were before: sessions that those refreshed have ended for these.
    let stage: Int
    let keyFile: String
    /// The vaults: host n uses the one at n modulo their number.
    let vaults: [String]

    /// The part of this process, if it is one of the hosts'.
    static func ofThisProcess() -> DatabaseHosts? {
        guard let text = unsafe getenv(variable).map({ unsafe String(cString: $0) }) else { return nil }
        let parts = text.split(separator: " ").map(String.init)
        return DatabaseHosts(
            first: Int(parts[0])!, count: Int(parts[1])!, seconds: Int(parts[2])!, stage: Int(parts[3])!,
            keyFile: parts[4], vaults: Array(parts[5...]))
    }

    /// Starts a process that has these hosts. It prints `open`, waits for a line, and prints what it measured.
    func start() throws -> RunningProgram {
        let text = (["\(first)", "\(count)", "\(seconds)", "\(stage)", keyFile] + vaults).joined(separator: " ")
        return try Program("/proc/self/exe").start(
            environment: ["PATH": Program.searchPath, Self.variable: text])
    }

    // MARK: - Sessions

    static func account(_ host: Int, _ session: Int) -> String { "host\(host)-session\(session)" }

    private static let provider = "github"

    static func sessions(in store: VaultStore) -> SessionStore {
        SessionStore(store: store, provider: provider, leases: .standard)
    }

    /// As a sign-in saves it; it ended long ago.
    static func session(_ account: String) throws -> StoredSession {
        func token(_ count: Int) -> String { String(repeating: "aB3-", count: count / 4) }
        return StoredSession(
            authority: "https://login.example", clientID: "latchkey", account: account, subject: "42",
            scopes: ["read", "write"], issued: UnixTime(seconds: 1000), expiry: UnixTime(seconds: 4600),
            accessToken: Secret(copying: Array(token(800).utf8).span),
            refreshToken: Secret(copying: Array(token(64).utf8).span))
    }

    // MARK: - Running

    private final class Host: Sendable {
        let number: Int
        private let service: SignInService
        private let clock: MovedClock
        /// The session that was refreshed last.
        private let fresh = Mutex(0)

        init(_ number: Int, _ service: SignInService, _ clock: MovedClock) {
            self.number = number
            self.service = service
            self.clock = clock
        }

        /// Each session in turn, more than an hour later each time.
        func refresh(_ round: Int) async throws(SignInError) {
            clock.advance(seconds: 4000)
            let session = round % DatabaseHosts.sessionsEach
            _ = try await service.accessToken(for: account(number, session))
            fresh.withLock { $0 = session }
        }

        func read() async throws(SignInError) {
            _ = try await service.accessToken(for: account(number, fresh.withLock { $0 }))
        }
    }

    private struct Result: Sendable {
        var microseconds: [Int] = []
        var errors: [String: Int] = [:]

        mutating func add(_ other: Result) {
            microseconds += other.microseconds
            errors.merge(other.errors, uniquingKeysWith: +)
        }
    }

    func run() async throws {
        var hosts: [Host] = []
        var opening = Result()
        for number in first..<first + count {
            do throws(StoreError) {
                hosts.append(try await open(number))
            } catch {
                opening.errors["\(error.codeName)", default: 0] += 1
            }
        }
        show("open", opening)
        await run(hosts, "refresh") { host, round in try await host.refresh(round) }
        await run(hosts, "read") { host, _ in try await host.read() }
        // Half of the hosts refresh, and what the others read is measured.
        await run(hosts, "both") { host, round in
            if host.number % 2 == 0 { try await host.refresh(round) } else { try await host.read() }
        }
    }

    private func open(_ number: Int) async throws(StoreError) -> Host {
        let store = try await VaultStore.open(
            at: vaults[number % vaults.count], unlockedBy: .keyFile(keyFile), deadline: .after(.seconds(120)))
        let clock = MovedClock()
        clock.advance(seconds: Int64(stage) * 1_000_000_000)
        guard let issuer = try? Issuer("https://login.example"),
            let provider = try? OAuthProvider.issuer(
                issuer, name: .gitHub, clientID: "latchkey", scopes: ["read", "write"])
        else { throw StoreError(.unsupported, "no provider") }
        let service = SignInService(
            provider: provider, store: store,
            context: SignInContext(
                http: CannedServer(tokenResponse: SignInCosts.response), leases: .standard, now: { clock.time }))
        return Host(number, service, clock)
    }

    /// All hosts at once, each one request after another, until the time is over.
    private func run(
        _ hosts: [Host], _ name: String, _ request: @escaping @Sendable (Host, Int) async throws -> Void
    ) async {
        guard readLine() != nil else { exit(1) }
        let end = ContinuousClock.now + .seconds(seconds)
        let result = await withTaskGroup(of: Result.self) { group in
            for host in hosts {
                group.addTask {
                    var result = Result()
                    var round = 0
                    while ContinuousClock.now < end {
                        let start = ContinuousClock.now
                        do {
                            defer { round += 1 }
                            try await request(host, round)
                            guard name != "both" || host.number % 2 == 1 else { continue }
                            result.microseconds.append(Int((ContinuousClock.now - start) / .microseconds(1)))
                        } catch {
                            let name = (error as? any RedactedError).map { "\($0.codeName)" } ?? "other"
                            result.errors[name, default: 0] += 1
                        }
                    }
                    return result
                }
            }
            var all = Result()
            for await result in group { all.add(result) }
            return all
        }
        show(name, result)
    }

    private func show(_ name: String, _ result: Result) {
        let errors = result.errors.map { "\($0.key)=\($0.value)" }
        print(([name] + errors + result.microseconds.map { "\($0)" }).joined(separator: " "))
        fflush(nil)
    }
}

/// A phase of all processes together.
struct DatabasePhase {
    private(set) var microseconds: [Int] = []
    private(set) var errors: [String: Int] = [:]

    /// Reads the line of a phase in what each process printed.
    init(_ name: String, _ processes: [RunningProgram]) {
        for process in processes {
            for line in process.outputSoFar.split(separator: "\n") where line.split(separator: " ").first == name[...] {
                for word in line.split(separator: " ").dropFirst() {
                    let pair = word.split(separator: "=")
                    if pair.count == 2 {
                        errors["\(pair[0])", default: 0] += Int(pair[1]) ?? 0
                    } else {
                        microseconds.append(Int(word) ?? 0)
                    }
                }
            }
        }
        microseconds.sort()
    }

    /// In milliseconds.
    func percentile(_ part: Double) -> Double {
        guard !microseconds.isEmpty else { return 0 }
        return Double(microseconds[min(microseconds.count - 1, Int(part * Double(microseconds.count)))]) / 1000
    }
}
