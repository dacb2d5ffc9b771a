internal import Glibc

/// How a record becomes a line. Docs/Logging.md describes the members of the JSON form.
public enum LogLineFormat: Sendable, Hashable, CaseIterable {
    /// `2026-01-02T03:04:05.678Z info latchkey.store: message field=value`
    case text
    /// `<6>latchkey.store: message field=value`: syslog's number for how much it matters (RFC 5424 section 6.2.1),
    /// which systemd takes off the standard error of a unit (sd-daemon(3)). The reader adds the time.
    case priorityPrefixed
    /// One JSON object (RFC 8259) with the members `time`, `level`, `category`, `message`, and `fields` where there are
    /// any.
    case json

    /// The most that a line shows of one message, in bytes of UTF-8.
    package static let maximumMessageByteCount = 65_536

    /// The line with its line break.
    func line(_ record: LogEntry) -> String {
        let message = InertText.bounded(record.message.text, to: Self.maximumMessageByteCount)
        switch self {
        case .text:
            return "\(Timestamp.text(record.timeNanoseconds)) \(record.level.name) \(record.category.name): "
                + message + Self.suffix(record.fields) + "\n"
        case .priorityPrefixed:
            return "<\(record.level.syslogPriority)>\(record.category.name): \(message)\(Self.suffix(record.fields))\n"
        case .json:
            let fields = record.fields.map { "\(JSONText.quote($0.name)):\(JSONText.quote($0.value.text))" }
            let member = fields.isEmpty ? "" : ",\"fields\":{\(fields.joined(separator: ","))}"
            return "{\"time\":\"\(Timestamp.text(record.timeNanoseconds))\",\"level\":\"\(record.level.name)\","
                + "\"category\":\(JSONText.quote(record.category.name.description)),"
                + "\"message\":\(JSONText.quote(message))\(member)}\n"
        }
    }

    private static func suffix(_ fields: [LogField]) -> String {
        fields.map { " \($0.name)=\($0.value.text)" }.joined()
    }
}

extension LogLevel {
    /// Syslog's number: 3 for an error, 4 for a warning, 6 for information, 7 below.
    var syslogPriority: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .warning: 4
        case .error: 3
        }
    }
}

enum Timestamp {
    /// RFC 3339 in UTC with milliseconds.
    static func text(_ nanoseconds: Int64) -> String {
        var seconds = time_t(nanoseconds / 1_000_000_000)
        var parts = unsafe tm()
        unsafe gmtime_r(&seconds, &parts)
        func two(_ value: Int32) -> String { value < 10 ? "0\(value)" : "\(value)" }
        let milliseconds = String(nanoseconds / 1_000_000 % 1000)
        return unsafe "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))"
            + ".\(String(repeating: "0", count: 3 - milliseconds.count))\(milliseconds)Z"
    }
}
