// What must compile, so that a missing module doesn't pass as a refusal.
import LatchkeyLog
import LatchkeySwiftLog
import Logging

func charge(with token: borrowing Secret<AccessToken>, sink: any LogSink) {
    let log = RedactedLogger("shop", sink: SwiftLogSink(Logger(label: "shop")))
    log.info("charged with \(token.byteCount) bytes")
    Logger(label: "shop") { RedactedLogHandler(label: $0, sink: sink) }.info("charged with \(token.byteCount) bytes")
}
