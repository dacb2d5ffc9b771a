public import LatchkeyLog
import LatchkeySecrets

struct Account: Loggable {
    let number: Int
    let name: String

    var logMessage: LogMessage {
        "account \(number), \(LoggableText(reviewed: "shown to everyone", unredacted: name))"
    }
}

struct Refused: RedactedError {
    let status: Int

    var explanation: Explanation { .init(.refused, "refused", "the server answered \(status)", hint: "try again") }
}

extension Unicode.Scalar: @retroactive Loggable {
    public var logMessage: LogMessage { "U+\(value)" }
}
