import LatchkeyLog

struct Refused: RedactedError {
    let underlying: any Error

    var codeName: StaticString { "refused" }
    var cause: LogMessage { "refused: \(underlying)" }  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
    var hint: LogMessage? { nil }
}
