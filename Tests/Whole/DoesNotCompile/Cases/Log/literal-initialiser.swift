import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: String) {
    logger.info(LogMessage(stringLiteral: text))  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
