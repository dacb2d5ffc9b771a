import LatchkeyLog

private struct Account: Loggable {
    let name: String

    var logMessage: LogMessage { LogMessage(stringLiteral: String(describing: self)) }  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
