import LatchkeyAuthenticator
import LatchkeyHTTP
import Synchronization

/// How much was asked each time that something happened.
final class SeenAsked: Sendable {
    private let state = Mutex<(counts: [Int], count: (@Sendable () -> Int)?)>(([], nil))

    var count: (@Sendable () -> Int)? {
        get { state.withLock { $0.count } }
        set { state.withLock { $0.count = newValue } }
    }

    func note() {
        let now = count?() ?? -1
        state.withLock { $0.counts.append(now) }
    }

    var seen: [Int] { state.withLock { $0.counts } }
}

/// What a response-status provider was asked about.
final class Answers: Sendable {
    private let seen = Mutex<[OAuthAuthenticator.ResponseRule.Answer]>([])

    func add(_ answer: OAuthAuthenticator.ResponseRule.Answer) { seen.withLock { $0.append(answer) } }
    var all: [OAuthAuthenticator.ResponseRule.Answer] { seen.withLock { $0 } }
}

/// A transport that remembers where requests went.
final class CountingClient: HTTPTransport {
    private let base = CurlTransport()
    private let seen = Mutex<[String]>([])

    var origins: [String] { seen.withLock { $0 } }

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        let origin = request.url.origin
        seen.withLock { $0.append(origin) }
        return try await base.send(request, limits: limits)
    }
}
