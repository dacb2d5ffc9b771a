import LatchkeyLog
import LatchkeySecrets

private struct Account: Loggable {
    let token: Secret<AccessToken>  // expected-error {{stored property 'token' of 'Copyable'-conforming struct 'Account' has non-Copyable type 'Secret<AccessToken>'}}

    var logMessage: LogMessage { "account" }
}
