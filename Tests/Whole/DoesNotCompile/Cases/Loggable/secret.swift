public import LatchkeyLog
public import LatchkeySecrets

extension Secret: @retroactive Loggable {  // expected-error {{type 'Secret<Purpose>' does not conform to protocol 'Copyable'}}
    public var logMessage: LogMessage { "" }
}
