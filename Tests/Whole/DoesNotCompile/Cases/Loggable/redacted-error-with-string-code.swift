import LatchkeyLog

struct Refused: RedactedError {
    let answer: String

    var codeName: StaticString { answer }  // expected-error {{cannot convert return expression of type 'String' to return type 'StaticString'}}
    var cause: LogMessage { "refused" }
    var hint: LogMessage? { nil }
}
