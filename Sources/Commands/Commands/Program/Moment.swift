internal import Glibc

/// A moment as RFC 3339 shows it, in UTC: `2026-01-02T03:04:05Z`.
package struct Moment: Loggable {
    package let text: String

    package init(_ time: UnixTime) {
        text = time.text("%Y-%m-%dT%H:%M:%SZ", isLocal: false) ?? "\(time.seconds)"
    }

    /// Safe: a moment.
    package var logMessage: LogMessage { "\(LoggableText(reviewed: "digits of a moment", unredacted: text))" }
}

/// A moment as people here read it: in local time, to the minute, with the zone. `2026-01-02 04:04 CET`.
struct LocalMoment: Loggable {
    private let text: String

    init(_ time: UnixTime) {
        text = time.text("%Y-%m-%d %H:%M %Z", isLocal: true) ?? ""
    }

    /// Safe: a moment.
    var logMessage: LogMessage { "\(LoggableText(reviewed: "digits of a moment and a zone", unredacted: text))" }
}

extension UnixTime {
    /// The time as strftime(3) writes it; `nil` for a year that C can't represent.
    fileprivate func text(_ format: StaticString, isLocal: Bool) -> String? {
        var (seconds, parts) = unsafe (time_t(seconds), tm())
        var buffer = [CChar](repeating: 0, count: 64)
        guard let time = unsafe isLocal ? localtime_r(&seconds, &parts) : gmtime_r(&seconds, &parts) else { return nil }
        let count = unsafe strftime(&buffer, buffer.count, format.description, time)
        return String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
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
