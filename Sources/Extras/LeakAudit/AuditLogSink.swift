internal import LatchkeyLog
internal import Synchronization

/// Keeps what is logged for the audit, and passes it on.
final class AuditLogSink: LogSink {
    let name: String
    private let next: (any LogSink)?
    private let kept = Mutex<[UInt8]>([])

    init(name: String, next: (any LogSink)?) {
        self.name = name
        self.next = next
    }

    func write(_ record: LogEntry) {
        let line = Self.line(record)
        kept.withLock { $0 += Array(line.utf8) }
        next?.write(record)
    }

    /// Everything of a record that a sink could show.
    static func line(_ record: LogEntry) -> String {
        let fields = record.fields.map { " \($0.name)=\($0.value.text)" }.joined()
        return "\(record.level.name) \(record.category.name): \(record.message.text)\(fields)\n"
    }

    var bytes: [UInt8] { kept.withLock { $0 } }
}
