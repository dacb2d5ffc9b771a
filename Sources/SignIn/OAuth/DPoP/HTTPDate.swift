internal import LatchkeySystem
internal import LatchkeyCredentials

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
