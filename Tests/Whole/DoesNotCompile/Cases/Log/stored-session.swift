// Compiled as a part of the package: outside it this has no name.
import LatchkeyLog
import LatchkeySignIn

private func leak(_ logger: RedactedLogger, _ value: consuming StoredSession) {
    logger.info("value \(value)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
