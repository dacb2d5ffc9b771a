import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: String) {
    logger.info(text)  // expected-error {{cannot convert value of type 'String' to expected argument type 'LogMessage'}}
}
