import LatchkeyLog

private func leak(_ message: LogMessage, _ text: String) -> LogMessage {
    var message = message
    message.text = text  // expected-error {{cannot assign to property: 'text' is a 'let' constant}}
    return message
}
