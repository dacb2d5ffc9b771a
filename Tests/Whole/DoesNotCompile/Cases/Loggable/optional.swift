public import LatchkeyLog

extension Optional: @retroactive Loggable where Wrapped: Loggable {
    public var logMessage: LogMessage { LogMessage(stringLiteral: String(describing: self)) }  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
