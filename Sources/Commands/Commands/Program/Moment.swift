internal import Glibc

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

/// A moment as people here read it: in local time, to the minute, with the zone. `2026-01-02 04:04 CET`.
struct LocalMoment: Loggable {
    private let text: String

    init(_ time: UnixTime) {
        var seconds = time_t(time.seconds)
        var parts = unsafe tm()
        var buffer = [CChar](repeating: 0, count: 64)
        let count = unsafe localtime_r(&seconds, &parts).map {
            unsafe strftime(&buffer, buffer.count, "%Y-%m-%d %H:%M %Z", $0)
        }
        text = String(decoding: buffer.prefix(count ?? 0).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Safe: a moment.
    var logMessage: LogMessage { "\(LoggableText(reviewed: "digits of a moment and a zone", unredacted: text))" }
}

extension Duration {
    /// The time in its largest whole unit: `1 hour`, `90 minutes`, `2 days`.
    var inWords: LogMessage {
        let seconds = Int(components.seconds)
        let units: [(Int, StaticString, StaticString)] = [
            (86_400, "day", "days"), (3_600, "hour", "hours"), (60, "minute", "minutes"), (1, "second", "seconds"),
        ]
        for (unit, singular, plural) in units where seconds >= unit && seconds % unit == 0 {
            return seconds == unit ? "1 \(singular)" : "\(seconds / unit) \(plural)"
        }
        return "\(seconds) seconds"
    }
}
