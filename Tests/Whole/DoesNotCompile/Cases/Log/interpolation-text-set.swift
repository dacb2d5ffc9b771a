import LatchkeyLog

private func leak(_ text: String) -> LogMessage {
    var interpolation = LogMessage.StringInterpolation(literalCapacity: 0, interpolationCount: 1)
    interpolation.text = text  // expected-error {{'text' is inaccessible due to 'internal' protection level}}
    return LogMessage(stringInterpolation: interpolation)
}
