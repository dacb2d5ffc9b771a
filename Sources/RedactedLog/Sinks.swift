internal import Glibc
internal import Synchronization

/// Writes a record as one line of text: `2026-01-02T03:04:05.678Z info latchkey.store: message`.
public struct TextLogSink: LogSink {
    private let descriptor: Int32

    /// - Parameter descriptor: an open file descriptor; standard error unless told otherwise. It is not closed.
    public init(descriptor: Int32 = 2) {
        self.descriptor = descriptor
    }

    public func write(_ record: LogRecord) {
        LineWriter.write(
            "\(Timestamp.text(record.timeNanoseconds)) \(record.level.name) \(record.category.name): "
                + "\(record.message.text)\n", to: descriptor)
    }
}

/// Writes a record as one JSON object a line (RFC 8259), with the members `time`, `level`, `category` and `message`.
public struct JSONLinesLogSink: LogSink {
    private let descriptor: Int32

    /// - Parameter descriptor: an open file descriptor; standard error unless told otherwise. It is not closed.
    public init(descriptor: Int32 = 2) {
        self.descriptor = descriptor
    }

    public func write(_ record: LogRecord) {
        LineWriter.write(
            "{\"time\":\"\(Timestamp.text(record.timeNanoseconds))\",\"level\":\"\(record.level.name)\","
                + "\"category\":\(JSONText.quote(record.category.name.description)),"
                + "\"message\":\(JSONText.quote(record.message.text))}\n", to: descriptor)
    }
}

/// Keeps records in memory, for tests.
public final class MemoryLogSink: LogSink {
    private let kept = Mutex<[LogRecord]>([])

    public init() {}

    public func write(_ record: LogRecord) {
        kept.withLock { $0.append(record) }
    }

    /// All records so far, oldest first.
    public var records: [LogRecord] { kept.withLock { $0 } }
}

/// Quotes a string for JSON (RFC 8259 section 7).
package enum JSONText {
    /// Also escapes what `InertText` makes inert, so that JSON on a terminal does nothing there.
    package static func quote(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where InertText.mustEscape(scalar):
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}

enum LineWriter {
    /// Writes a line with one write(2) where the system allows it, so that lines of several processes don't mix.
    static func write(_ line: String, to descriptor: Int32) {
        var line = line
        line.withUTF8 { bytes in
            var written = 0
            while written < bytes.count {
                let count = unsafe Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
                if count < 0 && errno == EINTR { continue }
                if count <= 0 { return }
                written += count
            }
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
