import LatchkeyLog

private struct Account: Loggable {
    let name: String

    var logMessage: LogMessage { "account \(name)" }  // expected-error {{'appendInterpolation' is unavailable: a String may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason}}
}
