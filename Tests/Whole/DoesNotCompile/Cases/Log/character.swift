import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ character: Character) {
    logger.info("first \(character)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
