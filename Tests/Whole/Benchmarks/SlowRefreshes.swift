internal import Foundation
internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import LatchkeyTestServer
internal import LatchkeyVault
internal import Synchronization
internal import TestServices

/// Two hundred sessions that have all ended, four services with a shared vault, five tasks of each that want a token of each
/// session, and an authorization server whose times have a heavy tail: how long they wait, and what is lost.
struct SlowRefreshes {
    private static let sessionCount = 200
    private static let serviceCount = 4
    private static let taskCount = 5
    /// No response takes longer, so that a round ends.
    private static let longest = 60.0

    static func run() async throws {
        print(
            """

            \(sessionCount) ended sessions, \(serviceCount) services with one vault, \(taskCount) tasks of each for each \
            session
            """)
        for (median, tail) in [
            (0.1, Tail.logNormal(0.5)), (0.1, .logNormal(1)), (0.1, .logNormal(1.5)), (0.1, .logNormal(2)),
            (0.1, .pareto(1)), (1, .logNormal(1)), (1, .logNormal(1.5)), (1, .logNormal(2)), (1, .pareto(1)),
        ] {
            try await round(median, tail)
        }
    }

    // MARK: - A round

    private static func round(_ median: Double, _ tail: Tail) async throws {
        let delays = Delays(median: median, tail, count: sessionCount * 4)
        var configuration = AuthorizationServerConfiguration(consent: .automatic)
        configuration.tokenDelay = { delays.next() }
        configuration.maximumConnectionCount = 1000
        let server = try LoopbackAuthorizationServer(configuration)
        let directory = try TestDirectory()
        let (path, keyFile) = (directory / "vault", directory / "key")
        try VaultKeyFile.create(at: keyFile)
        let provider = try OAuthProvider.issuer(
            Issuer(server.issuer), name: .gitHub, clientID: "latchkey", scopes: ["read", "write"])
        let first = try await VaultStore.create(at: path, unlockedBy: .keyFile(keyFile))
        let clock = MovedClock()
        let http = CurlTransport()
        func service(_ store: VaultStore) -> SignInService {
            SignInService(
                provider: provider, store: store,
                context: SignInContext(
                    http: http, leases: LeaseDirectory(path: directory / "leases"), now: { clock.time }))
        }
        let signingIn = service(first)
        let follower = PageFollower(http: http)
        let browser = BrowserUserAgent(.opener { link throws(UserAgentError) in try await follower.follow(link) })
        for session in 0..<sessionCount {
            try await signingIn.signIn(
                presenting: browser, account: "session\(session)", deadline: .after(.seconds(60)))
        }
        var services: [SignInService] = []
        for _ in 0..<serviceCount {
            services.append(service(try await VaultStore.open(at: path, unlockedBy: .keyFile(keyFile))))
        }
        clock.advance(seconds: 4000)
        let requests = server.record.requests[.token] ?? 0
        delays.begin()
        let outcome = await ask(services, taskCount)
        for service in services { await service.finishRefreshes() }
        let sent = (server.record.requests[.token] ?? 0) - requests
        delays.end()
        // The late responses of requests that were given up; the server rotates the refresh token then.
        try await Task.sleep(for: .seconds(outcome.errors.isEmpty ? 0 : longest - 30))
        let after = await ask([services[0]], 1)
        let lost = after.errors.values.reduce(0, +)
        print(
            """
              \(tail.name), median \(Int(median * 1000)) ms: server \(delays.summary); waits \(outcome.summary); \(sent) \
            requests, \(server.record.replays) refresh tokens sent twice; errors \(outcome.list); then \(lost) sessions \
            lost \(after.list)
            """)
    }

    /// A token of each session for each task of each service.
    private static func ask(_ services: [SignInService], _ tasks: Int) async -> Outcome {
        await withTaskGroup(of: (Double, String?).self) { group in
            for service in services {
                for session in 0..<sessionCount {
                    for _ in 0..<tasks {
                        group.addTask {
                            let start = ContinuousClock.now
                            do throws(SignInError) {
                                _ = try await service.accessToken(for: "session\(session)")
                                return ((.now - start) / .seconds(1), nil)
                            } catch {
                                return ((.now - start) / .seconds(1), "\(error.codeName)")
                            }
                        }
                    }
                }
            }
            var outcome = Outcome()
            for await (seconds, error) in group {
                outcome.seconds.append(seconds)
                if let error { outcome.errors[error, default: 0] += 1 }
            }
            return outcome
        }
    }

    private struct Outcome {
        var seconds: [Double] = []
        var errors: [String: Int] = [:]

        var summary: String { percentiles(seconds) }
        var list: String { errors.isEmpty ? "none" : "\(errors)" }
    }
}

/// The distribution of a server's times.
private enum Tail {
    /// With this deviation of the logarithm.
    case logNormal(Double)
    /// With this exponent.
    case pareto(Double)

    var name: String {
        switch self {
        case .logNormal(let deviation): "log-normal \(deviation)"
        case .pareto(let exponent): "Pareto \(exponent)"
        }
    }
}

/// Times drawn before the round, from a fixed seed: the order in which requests arrive decides who gets which.
private final class Delays: Sendable {
    private let all: [Double]
    private let state = Mutex((isOn: false, taken: 0))

    init(median: Double, _ tail: Tail, count: Int) {
        var random = SeededNumbers(state: 33)
        all = (0..<count).map { _ in
            let (first, second) = (random.fraction(), random.fraction())
            let time =
                switch tail {
                // Box and Muller.
                case .logNormal(let deviation): median * exp(deviation * sqrt(-2 * log(first)) * cos(2 * .pi * second))
                case .pareto(let exponent): median * pow(2, -1 / exponent) * pow(first, -1 / exponent)
                }
            return min(time, 60)
        }
    }

    func begin() { state.withLock { $0.isOn = true } }
    func end() { state.withLock { $0.isOn = false } }

    func next() -> Duration {
        let index = state.withLock { state -> Int? in
            guard state.isOn, state.taken < all.count else { return nil }
            defer { state.taken += 1 }
            return state.taken
        }
        return .seconds(index.map { all[$0] } ?? 0)
    }

    var summary: String { percentiles(Array(all.prefix(state.withLock { $0.taken }))) }
}

/// SplitMix64 (Steele, Lea and Flood, 2014).
private struct SeededNumbers {
    var state: UInt64

    /// In (0, 1].
    mutating func fraction() -> Double {
        state &+= 0x9E37_79B9_7F4A_7C15
        var bits = state
        bits = (bits ^ bits >> 30) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ bits >> 27) &* 0x94D0_49BB_1331_11EB
        return Double((bits ^ bits >> 31) >> 11 + 1) / 0x1p53
    }
}

private func percentiles(_ times: [Double]) -> String {
    let sorted = times.sorted()
    guard let longest = sorted.last else { return "none" }
    func at(_ part: Double) -> String { String(format: "%.2f", sorted[Int(part * Double(sorted.count - 1))]) }
    return "\(at(0.5)) s p50, \(at(0.99)) s p99, \(String(format: "%.2f", longest)) s at most"
}
