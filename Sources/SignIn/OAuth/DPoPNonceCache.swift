internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeySystem
internal import Synchronization

/// Servers' requirements for proofs: the next nonce of each server (RFC 9449 sections 8 and 9), and the difference of
/// its clock from ours. All sessions of a process share one cache. It doesn't contain secrets.
package final class DPoPNonceCache: Sendable {
    struct Origin: Sendable, Hashable {
        var nonce: String?
        /// The lead of the server's clock over ours, in seconds.
        var skew: Int64 = 0
    }

    private let origins = Mutex<[String: Origin]>([:])

    /// More than these at once are forgotten: they cost a repeated request each.
    static let maximumOriginCount = 64
    static let maximumNonceByteCount = 1024
    /// A `Date` field has whole seconds and arrives late, so a smaller difference is ignored.
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

/// The `Date` of a response (RFC 9110 section 5.6.7), in the one form that servers may write.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for anything else. The day of the week isn't looked at.
    static func parse(_ text: String) -> UnixTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, text.hasSuffix(" GMT"), bytes[3] == UInt8(ascii: ","),
            [4, 7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
            bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":")
        else { return nil }
        func number(_ range: Range<Int>) -> Int64? {
            bytes[range].allSatisfy(ASCII.isDigit) ? Int64(String(decoding: bytes[range], as: UTF8.self)) : nil
        }
        guard let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)).map(Int64.init),
            let day = number(5..<7), let year = number(12..<16), let hour = number(17..<19),
            let minute = number(20..<22), let second = number(23..<25),
            (1...31).contains(day), (1970...9999).contains(year), hour < 24, minute < 60, second <= 60
        else { return nil }
        return UnixTime(seconds: days(year, month + 1, day) * 86_400 + hour * 3600 + minute * 60 + second)
    }

    /// Days from 1970-01-01 to a day of the Gregorian calendar. A year begins in March here, so that the leap day is
    /// its last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let month = (month + 9) % 12
        return year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day - 1 - 719_468
    }
}
