// Compiled as a part of the package: outside it this has no name.
import LatchkeyOAuth
import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ value: consuming ES256Key) {
    logger.info("value \(value)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
