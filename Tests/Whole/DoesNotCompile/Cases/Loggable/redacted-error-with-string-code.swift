import LatchkeyLog

private struct Refused: RedactedError {
    let answer: String

    var explanation: Explanation { .init(.refused, answer, "refused") }  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
