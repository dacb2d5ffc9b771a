import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ error: any Error) {
    logger.error("failed: \(error)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
