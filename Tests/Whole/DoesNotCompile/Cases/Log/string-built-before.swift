import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: String) {
    let message = "token \(text)"
    logger.info(message)  // expected-error {{cannot convert value of type 'String' to expected argument type 'LogMessage'}}
}
