import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ bytes: [UInt8]) {
    logger.info("bytes \(bytes)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
