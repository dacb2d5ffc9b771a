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
final class Responses: Sendable {
    private let seen = Mutex<[OAuthAuthenticator.ResponseRule.Response]>([])

    func add(_ response: OAuthAuthenticator.ResponseRule.Response) { seen.withLock { $0.append(response) } }
    var all: [OAuthAuthenticator.ResponseRule.Response] { seen.withLock { $0 } }
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
