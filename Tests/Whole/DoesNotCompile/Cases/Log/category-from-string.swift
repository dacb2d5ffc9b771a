import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: String) {
    RedactedLogger(LogCategory(stringLiteral: text), sink: nil).info("x")  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
