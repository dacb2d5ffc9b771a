// A token in a line of ours, on its way to swift-log: refused as everywhere.
import LatchkeyLog
import LatchkeySwiftLog
import Logging

func charge(with token: borrowing Secret<AccessToken>) {
    let log = RedactedLogger("shop", sink: SwiftLogSink(Logger(label: "shop")))
    log.info("charged with \(token)")  // expected-error {{a secret can't be logged}}
}

// Nor in a line of swift-log's, whichever handler it has.
func chargeElsewhere(with token: borrowing Secret<AccessToken>, sink: any LogSink) {
    let log = Logger(label: "shop") { RedactedLogHandler(label: $0, sink: sink) }
    log.info("charged with \(token)")  // expected-error {{no exact matches}}
}
