internal import RedactedLog
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

    func write(_ record: LogRecord) {
        let line = "\(record.level.name) \(record.category.name): \(record.message.text)\n"
        kept.withLock { $0 += Array(line.utf8) }
        next?.write(record)
    }

    var bytes: [UInt8] { kept.withLock { $0 } }
}
