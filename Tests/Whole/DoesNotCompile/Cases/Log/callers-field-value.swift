import LatchkeyLog
import LatchkeySignIn

private func leak(_ logger: RedactedLogger, _ field: CallersOwnHTTPClientFieldSink) {
    logger.info("sent \(field.unprotectedFieldValue)")  // expected-error {{'appendInterpolation' is unavailable: a String may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason}}
}
