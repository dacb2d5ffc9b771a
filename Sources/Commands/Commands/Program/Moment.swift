internal import Glibc
package import LatchkeyCredentials
package import LatchkeyLog

/// A moment as RFC 3339 shows it, in UTC: `2026-01-02T03:04:05Z`.
package struct Moment: Loggable {
    package let text: String

    package init(_ time: UnixTime) {
        var seconds = time_t(time.seconds)
        var parts = unsafe tm()
        guard unsafe gmtime_r(&seconds, &parts) != nil else {
            text = "\(time.seconds)"
            return
        }
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let date = unsafe "\(Int(parts.tm_year) + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        text = unsafe "\(date)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }

    /// Safe: a moment.
    package var logMessage: LogMessage { "\(LoggableText(reviewed: "digits of a moment", unredacted: text))" }
}
