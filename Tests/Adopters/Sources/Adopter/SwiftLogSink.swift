import Latchkey
import Logging

/// Latchkey's log lines in swift-log.
struct SwiftLogSink: LogSink {
    let logger: Logger

    func write(_ entry: LogEntry) {
        var metadata: Logger.Metadata = [:]
        for field in entry.fields { metadata[field.name] = "\(field.value)" }
        logger.log(level: entry.level == .error ? .error : .info, "\(entry.message)", metadata: metadata)
    }
}

func charge(with token: borrowing Secret<AccessToken>, order: Int) {
    let sink = ScrubbingLogSink(over: SwiftLogSink(logger: Logger(label: "shop")), secrets: .ofThisProcess)
    RedactedLogger("shop", sink: sink).with("order", order).info("charged with a token of \(token.byteCount) bytes")
}
