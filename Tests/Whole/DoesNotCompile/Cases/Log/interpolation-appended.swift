import LatchkeyLog

private func leak(_ text: String) -> LogMessage {
    var interpolation = LogMessage.StringInterpolation(literalCapacity: 0, interpolationCount: 1)
    interpolation.appendLiteral(text)  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
    return LogMessage(stringInterpolation: interpolation)
}
