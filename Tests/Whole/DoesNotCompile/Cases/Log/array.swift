import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ values: [Int]) {
    logger.info("values \(values)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
