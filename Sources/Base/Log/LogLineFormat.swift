internal import Glibc

/// How a record becomes a line. Docs/HowTo/logging.md describes the members of the JSON form.
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
            var line = Timestamp.text(record.timeNanoseconds)
            line.reserveCapacity(message.utf8.count + 64 + record.fields.count * 32)
            line += " "
            line += record.level.name.description
            line += " "
            Self.append(record, message, to: &line)
            return line
        case .priorityPrefixed:
            var line = "<\(record.level.syslogPriority)>"
            Self.append(record, message, to: &line)
            return line
        case .json:
            let fields = record.fields.map { "\(JSONText.quote($0.name)):\(JSONText.quote($0.value.text))" }
            let member = fields.isEmpty ? "" : ",\"fields\":{\(fields.joined(separator: ","))}"
            return "{\"time\":\"\(Timestamp.text(record.timeNanoseconds))\",\"level\":\"\(record.level.name)\","
                + "\"category\":\(JSONText.quote(record.category.name)),"
                + "\"message\":\(JSONText.quote(message))\(member)}\n"
        }
    }

    private static func append(_ record: LogEntry, _ message: String, to line: inout String) {
        line += record.category.name
        line += ": "
        line += message
        for field in record.fields {
            line += " "
            line += field.name
            line += "="
            line += field.value.text
        }
        line += "\n"
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
        let date = unsafe (Int(parts.tm_year) + 1900, Int(parts.tm_mon) + 1, Int(parts.tm_mday))
        let time = unsafe (Int(parts.tm_hour), Int(parts.tm_min), Int(parts.tm_sec))
        guard nanoseconds >= 0 else { return "\(nanoseconds) ns" }
        // Each line has a time, so speed matters: it is built byte by byte.
        return unsafe String(unsafeUninitializedCapacity: 24) { bytes in
            var end = 0
            func add(_ number: Int, _ digits: Int, _ separator: StaticString) {
                var rest = number
                for place in (end..<end + digits).reversed() {
                    unsafe bytes[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                unsafe bytes[end + digits] = separator.utf8Start.pointee
                end += digits + 1
            }
            add(date.0, 4, "-")
            add(date.1, 2, "-")
            add(date.2, 2, "T")
            add(time.0, 2, ":")
            add(time.1, 2, ":")
            add(time.2, 2, ".")
            add(Int(nanoseconds / 1_000_000 % 1000), 3, "Z")
            return end
        }
    }
}
