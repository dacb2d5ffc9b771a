internal import LatchkeySystem
internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import Synchronization

/// What servers told about proofs: the nonce each wants next (RFC 9449 sections 8 and 9), and how their clocks differ
/// from ours. One for all sessions of a process; nothing in it is a secret.
package final class DPoPNonceCache: Sendable {
    struct Origin: Sendable, Hashable {
        var nonce: String?
        /// Seconds that the server's clock is ahead of ours.
        var skew: Int64 = 0
    }

    private let origins = Mutex<[String: Origin]>([:])

    /// More than these at once are forgotten: they cost a repeated request each.
    static let maximumOriginCount = 64
    static let maximumNonceByteCount = 1024
    /// A `Date` has whole seconds and takes its time: less than this is no difference.
    static let toleratedSkew: Int64 = 2
    /// A difference greater than two days is not accepted.
    static let maximumSkew: Int64 = 2 * 86_400

    package init() {}

    func origin(of url: HTTPURL) -> Origin {
        origins.withLock { $0[url.origin] ?? Origin() }
    }

    /// Takes nonce and time from a response, whatever its status: the newest nonce is the one that counts. Returns what
    /// is known now.
    @discardableResult
    func learn(from response: borrowing GuardedResponse, of url: HTTPURL, now: UnixTime) -> Origin {
        let address = url.origin
        let known = origins.withLock { $0[address] }
        var learned = known ?? Origin()
        if let nonce = response.field("DPoP-Nonce"), Self.isNonce(nonce) { learned.nonce = nonce }
        if let date = response.field("Date").flatMap(HTTPDate.parse) {
            let skew = date.seconds(since: now)
            if skew.magnitude <= Self.toleratedSkew {
                learned.skew = 0
            } else if skew.magnitude <= Self.maximumSkew, (skew - learned.skew).magnitude > Self.toleratedSkew {
                learned.skew = skew
            }
        }
        if learned != known {
            origins.withLock { origins in
                if origins.count >= Self.maximumOriginCount, origins[address] == nil { origins = [:] }
                origins[address] = learned
            }
        }
        return learned
    }

    /// Section 8.1: one or more NQCHAR.
    static func isNonce(_ text: String) -> Bool {
        (1...maximumNonceByteCount).contains(text.utf8.count) && text.utf8.allSatisfy(ASCII.isScopeCharacter)
    }
}
