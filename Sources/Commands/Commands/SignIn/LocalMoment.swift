internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog

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
