import LatchkeyLog
import LatchkeySwiftLog
import Logging

/// A logger of swift-log's whose lines arrive in memory.
struct Bridge {
    let sink = MemoryLogSink()
    let secrets = LiveSecrets()

    func logger(
        _ label: String = "shop", level: Logger.Level = .trace, provider: Logger.MetadataProvider? = nil,
        showsMarked: (@Sendable (Logger.MetadataValue) -> Bool)? = nil
    ) -> Logger {
        var logger = Logger(label: label) {
            RedactedLogHandler(
                label: $0, sink: sink, secrets: secrets, metadataProvider: provider, showsMarked: showsMarked)
        }
        logger.logLevel = level
        return logger
    }

    var records: [LogEntry] { sink.records }

    /// All that the records say, for a search.
    var text: String {
        records.map { record in
            let fields = record.fields.map { " \($0.name)=\($0.value)" }.joined()
            return "\(record.category.logMessage): \(record.message)\(fields)\n"
        }.joined()
    }
}

extension LogEntry {
    /// A field's text.
    subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value.text }
}

/// A mark as a package defines one.
enum Sensitivity: Int64, Logger.MetadataValueAttributes.Attribute {
    case sensitive = 1
    case `public` = 2
}

extension Logger.MetadataValue.StringInterpolation {
    mutating func appendInterpolation(_ value: some CustomStringConvertible & Sendable, sensitivity: Sensitivity) {
        appendInterpolation(value, attributes: { $0[Sensitivity.self] = sensitivity })
    }
}
