import LatchkeyLog

func leak(_ logger: Logger, _ text: String) {
    Logger(LogCategory(stringLiteral: text), sink: nil).info("x")  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
