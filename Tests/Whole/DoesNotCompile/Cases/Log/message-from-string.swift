import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: String) {
    logger.info(LogMessage(text))  // expected-error {{no exact matches in call to initializer}}
}
