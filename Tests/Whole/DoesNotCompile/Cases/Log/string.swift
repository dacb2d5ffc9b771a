import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: String) {
    logger.info("token \(text)")  // expected-error {{'appendInterpolation' is unavailable: a String may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason}}
}
