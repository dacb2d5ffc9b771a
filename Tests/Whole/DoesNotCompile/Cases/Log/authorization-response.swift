import LatchkeyOAuth
import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ value: consuming AuthorizationResponse) {
    logger.info("value \(value)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
