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

/// Times as servers write them: the `Date` of a response (RFC 9110 section 5.6.7), and those of RFC 3339 in UTC.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`; `nil` for anything else. The day of the week isn't looked at.
    static func parse(_ text: String) -> UnixTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, text.hasSuffix(" GMT"), bytes[3] == UInt8(ascii: ","),
            [4, 7, 11, 16].allSatisfy({ bytes[$0] == UInt8(ascii: " ") }),
            bytes[19] == UInt8(ascii: ":"), bytes[22] == UInt8(ascii: ":")
        else { return nil }
        guard let month = months.firstIndex(of: String(decoding: bytes[8..<11], as: UTF8.self)) else { return nil }
        return time(
            number(bytes[12..<16]), Int64(month) + 1, number(bytes[5..<7]), number(bytes[17..<19]),
            number(bytes[20..<22]), number(bytes[23..<25]))
    }

    /// Reads `1994-11-06T08:49:37Z`, which may have a fraction of a second (RFC 3339); `nil` for another zone than UTC.
    static func timestamp(_ text: String) -> UnixTime? {
        let bytes = Array(text.utf8)
        guard (20...30).contains(bytes.count), text.hasSuffix("Z"), bytes.count == 20 || bytes[19] == UInt8(ascii: "."),
            bytes.dropFirst(20).dropLast().allSatisfy(ASCII.isDigit), bytes[4] == UInt8(ascii: "-"),
            bytes[7] == UInt8(ascii: "-"), bytes[10] == UInt8(ascii: "T"), bytes[13] == UInt8(ascii: ":"),
            bytes[16] == UInt8(ascii: ":")
        else { return nil }
        return time(
            number(bytes[0..<4]), number(bytes[5..<7]), number(bytes[8..<10]), number(bytes[11..<13]),
            number(bytes[14..<16]), number(bytes[17..<19]))
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        digits.allSatisfy(ASCII.isDigit) ? Int64(String(decoding: digits, as: UTF8.self)) : nil
    }

    private static func time(
        _ year: Int64?, _ month: Int64?, _ day: Int64?, _ hour: Int64?, _ minute: Int64?, _ second: Int64?
    ) -> UnixTime? {
        guard let year, let month, let day, let hour, let minute, let second, (1970...9999).contains(year),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        return UnixTime(seconds: days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second)
    }

    /// Days from 1970-01-01 to a day of the Gregorian calendar. A year begins in March here, so that the leap day is
    /// its last.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let month = (month + 9) % 12
        return year * 365 + year / 4 - year / 100 + year / 400 + (month * 306 + 5) / 10 + day - 1 - 719_468
    }
}
