import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: Substring) {
    logger.info("token \(text)")  // expected-error {{'appendInterpolation' is unavailable: a Substring may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason}}
}
