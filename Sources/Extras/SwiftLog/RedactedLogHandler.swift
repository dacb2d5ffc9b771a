#if SwiftLog
    internal import Glibc
    public import LatchkeyLog
    public import Logging
    internal import Synchronization

    /// A backend of swift-log that passes other packages' lines to a Latchkey sink.
    ///
    ///     let sink = TextLogSink()
    ///     LoggingSystem.bootstrap { RedactedLogHandler(label: $0, sink: sink) }
    ///
    /// The handler gets text without useful types. It therefore bounds, searches and escapes each message, value, key,
    /// label and source. It withholds a whole line that contains a secret in use. `(withheld)` replaces a text that
    /// follows a credential's name or has the form of a well-known service's token, the value of a key with a
    /// credential's name, and each value that a package has marked (`Logger.MetadataValue.attributes`).
    ///
    /// The label becomes the record's category. Keys of the metadata become fields, after those of `LogContext`. The
    /// field `source` contains the source, and `at` the file and line of `trace` and `debug`. `notice` becomes `info`
    /// and `critical` becomes `error`, with the field `swift_log_level`.
    ///
    /// Any thread can call the handler. A C signal handler can't, because Swift can't allocate memory there: a line
    /// from a signal handler that interrupts another line is dropped.
    public struct RedactedLogHandler: LogHandler {
        /// A line below it isn't made. `info` unless told otherwise.
        public var logLevel: Logger.Level = .info
        /// The metadata of each line of this logger. Metadata of the provider and of the line take precedence.
        public var metadata: Logger.Metadata = [:]
        /// Asked once for each line.
        public var metadataProvider: Logger.MetadataProvider?

        private let category: LogCategory
        private let label: String
        private let sink: any LogSink
        private let secrets: LiveSecrets
        private let showsMarked: (@Sendable (Logger.MetadataValue) -> Bool)?

        /// - Parameters:
        ///   - label: the logger's label.
        ///   - sink: where records go.
        ///   - secrets: what is searched for. `ofThisProcess` knows a secret that is made after its first use, so use
        ///     it at the program's start.
        ///   - metadataProvider: called once for each line; by default swift-log's own.
        ///   - showsMarked: whether a value with a mark may be shown. A mark is a type of the package that defines it,
        ///     so that only the program knows what it means: `{ $0.attributes[Sensitivity.self] == .public }`. Without
        ///     it no marked value is shown.
        public init(
            label: String, sink: any LogSink, secrets: LiveSecrets = .ofThisProcess,
            metadataProvider: Logger.MetadataProvider? = LoggingSystem.metadataProvider,
            showsMarked: (@Sendable (Logger.MetadataValue) -> Bool)? = nil
        ) {
            self.label = label
            var text = ForeignText(secrets: secrets)
            category = LogCategory(foreign: text.shown(label, limit: 256))
            self.sink = sink
            self.secrets = secrets
            self.metadataProvider = metadataProvider
            self.showsMarked = showsMarked
        }

        /// One value of `metadata`.
        public subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        /// Hands a line over. It throws nothing, and waits as long as the sink does.
        public func log(event: LogEvent) {
            HandingOver.once { sink.write(record(of: event)) }
        }

        private func record(of event: LogEvent) -> LogEntry {
            let time = LogEntry.now()
            let level = LogLevel(event.level)
            var text = ForeignText(secrets: secrets)
            text.search(label)
            let message = LogMessage(foreign: text.shown(event.message.description))
            var fields = MetadataFields(beginningWith: LogContext.fields, showsMarked: showsMarked)
            fields.add("source", text.shown(event.source, limit: 256))
            if event.level <= .debug { fields.add("at", text.shown("\(event.file):\(event.line)", limit: 256)) }
            if event.level == .notice || event.level == .critical {
                fields.add("swift_log_level", event.level.rawValue)
            }
            if let error = event.error { fields.add("error", text.shown("\(error)")) }
            fields.add(merged(event.metadata), through: &text)
            if text.holdsSecret {
                secrets.countWithheld()
                return .withheld(level: level, category: "swift-log", timeNanoseconds: time)
            }
            let dropped = HandingOver.takeDropped()
            if dropped > 0 { fields.add("lines_dropped", "\(dropped)") }
            return LogEntry(
                level: level, category: category, message: message, timeNanoseconds: time, fields: fields.fields)
        }

        /// The handler's metadata, over it the provider's, over these the line's own.
        private func merged(_ own: Logger.Metadata?) -> Logger.Metadata {
            var all = metadata
            if let provided = metadataProvider?.get(), !provided.isEmpty { all.merge(provided) { $1 } }
            if let own { all = all.isEmpty ? own : all.merging(own) { $1 } }
            return all
        }
    }

    extension LogLevel {
        init(_ level: Logger.Level) {
            self =
                switch level {
                case .trace: .trace
                case .debug: .debug
                case .info, .notice: .info
                case .warning: .warning
                case .error, .critical: .error
                }
        }
    }

    /// Whether this thread is handing a line over already.
    ///
    /// A metadata provider that logs, a description that does, a sink that leads back into swift-log, or a signal's
    /// handler on the same thread would begin again in the middle: without end, or at a lock that the thread holds.
    /// Their lines are dropped and counted. A task-local value would be inherited by tasks that they start, and silence
    /// these too.
    enum HandingOver {
        private static let key: pthread_key_t = {
            var key = pthread_key_t()
            unsafe pthread_key_create(&key, nil)
            return key
        }()

        /// Lines that were dropped when the one in whose middle they came was finished already.
        private static let untold = Atomic(0)

        /// One more than how many lines were dropped in the middle of this thread's; 0 outside.
        private static var count: Int {
            get { unsafe Int(bitPattern: pthread_getspecific(key)) }
            set { unsafe pthread_setspecific(key, UnsafeRawPointer(bitPattern: newValue)) }
        }

        /// Runs `body`, unless the thread is inside of another call.
        static func once(_ body: () -> Void) {
            guard count == 0 else {
                count += 1
                return
            }
            count = 1
            body()
            if count > 1 { untold.add(count - 1, ordering: .relaxed) }
            count = 0
        }

        /// How many lines were dropped, in the middle of this one or untold until now.
        static func takeDropped() -> Int {
            let earlier = untold.load(ordering: .relaxed) == 0 ? 0 : untold.exchange(0, ordering: .relaxed)
            defer { count = 1 }
            return count - 1 + earlier
        }
    }
#endif
