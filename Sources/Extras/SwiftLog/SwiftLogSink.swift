#if SwiftLog
    public import LatchkeyLog
    public import Logging

    /// A sink that passes finished records to swift-log and its backend.
    ///
    ///     let log = RedactedLogger("shop", sink: SwiftLogSink(Logger(label: "shop")))
    ///
    /// The level is the same, and the text is already safe. Fields become metadata, including a correlation id. The
    /// category becomes the key `category`, and `source` is `Latchkey`. The backend adds its own time and this call's file
    /// and line, because the record lacks them.
    public struct SwiftLogSink: LogSink {
        private let logger: Logger

        /// The logger's own level applies as well.
        public init(_ logger: Logger) {
            self.logger = logger
        }

        /// Hands a record to the logger.
        public func write(_ record: LogEntry) {
            logger.log(
                level: Logger.Level(record.level),
                Logger.Message(
                    stringLiteral: InertText.bounded(record.message.text, to: LogLineFormat.maximumMessageByteCount)),
                metadata: metadata(of: record), source: "Latchkey")
        }

        private func metadata(of record: LogEntry) -> Logger.Metadata {
            var metadata: Logger.Metadata = ["category": .string(record.category.name)]
            for field in record.fields { metadata[field.name] = .string(field.value.text) }
            return metadata
        }
    }

    extension Logger.Level {
        init(_ level: LogLevel) {
            self =
                switch level {
                case .trace: .trace
                case .debug: .debug
                case .info: .info
                case .warning: .warning
                case .error: .error
                }
        }
    }
#endif
