public import Latchkey
public import LatchkeySwiftLog
public import Logging

// Docs/HowTo/logging.md shows these functions word for word.

/// A program's first lines.
public func bootstrap(_ sink: any LogSink = TextLogSink()) {
    _ = LiveSecrets.ofThisProcess
    LoggingSystem.bootstrap { RedactedLogHandler(label: $0, sink: sink) }
}

/// A Latchkey logger that writes to any swift-log backend.
public func charge(with token: borrowing Secret<AccessToken>, order: Int, logger: Logger) {
    let log = RedactedLogger("shop.orders", sink: SwiftLogSink(logger))
    log.with("order", order).info("charged with a token of \(token.byteCount) bytes")
}

/// A mark that some package defines.
public enum Sensitivity: Int64, Logger.MetadataValueAttributes.Attribute {
    case sensitive = 1
    case `public` = 2
}

/// Shows what is marked as public.
public func marked(label: String, sink: any LogSink) -> RedactedLogHandler {
    RedactedLogHandler(label: label, sink: sink) { $0.attributes[Sensitivity.self] == .public }
}
