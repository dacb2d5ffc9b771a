public import LatchkeyLog

extension String: @retroactive Loggable {
    public var logMessage: LogMessage { LogMessage(stringLiteral: self) }  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
