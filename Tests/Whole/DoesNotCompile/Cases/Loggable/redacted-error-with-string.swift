import LatchkeyLog

private struct Refused: RedactedError {
    let answer: String

    var explanation: Explanation { .init(.refused, "refused", "the server said \(answer)") }  // expected-error {{'appendInterpolation' is unavailable: a String may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason}}
}
