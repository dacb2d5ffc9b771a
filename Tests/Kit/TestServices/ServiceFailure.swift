/// Why a service or program that a test needs isn't there, in words that say what to do about it.
public struct ServiceFailure: Error, CustomStringConvertible {
    public let description: String

    public init(_ description: String) {
        self.description = description
    }

    /// A program that the set-up script installs is missing. Tests fail then; they are never skipped.
    static func missing(program: String) -> ServiceFailure {
        ServiceFailure(
            "the program `\(program)` is not installed: the second command of README.md installs what the tests use"
        )
    }

    static func system(_ call: String, _ number: Int32) -> ServiceFailure {
        ServiceFailure("\(call) failed with errno \(number)")
    }
}
