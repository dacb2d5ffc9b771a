import LatchkeyLog

private struct Refused: RedactedError {
    let underlying: any Error

    var explanation: Explanation { .init(.refused, "refused", "refused: \(underlying)") }  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
