public import Secrets

/// The text of a log message: literals and `Loggable` values, nothing else.
///
/// A secret, a `String`, an optional or any other value in an interpolation is a compile error that says what to do
/// instead; so is a literal built at run time. The text is made when the message is, and `Logger` makes it only when the
/// level is enabled.
public struct LogMessage: Loggable, Sendable, Hashable {
    /// The finished text, without control characters.
    public let text: String

    public var logMessage: LogMessage { self }

    /// Text that is safe already.
    init(verbatim text: String) {
        self.text = text
    }

    /// Text whose control characters must be made inert, and that may be of any length.
    init(inert text: String) {
        self.text = InertText.escape(InertText.bounded(text, to: LoggableText.maximumByteCount))
    }

    /// The messages in order, with `separator` between them.
    public static func joined(_ parts: [LogMessage], separator: StaticString = ", ") -> LogMessage {
        LogMessage(verbatim: parts.map(\.text).joined(separator: separator.description))
    }
}

extension LogMessage: CustomStringConvertible {
    public var description: String { text }
}

extension LogMessage: ExpressibleByStringInterpolation {
    public init(stringLiteral value: StaticString) {
        self.init(verbatim: value.description)
    }

    public init(stringInterpolation: StringInterpolation) {
        self.init(verbatim: stringInterpolation.text)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        public mutating func appendLiteral(_ literal: StaticString) {
            text += literal.description
        }

        public mutating func appendInterpolation<Value: Loggable>(_ value: Value) {
            text += value.logMessage.text
        }

        // MARK: What can't be logged

        @available(*, unavailable, message: "a secret can't be logged; log its purpose or its key instead")
        public mutating func appendInterpolation<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) {}

        @available(
            *, unavailable,
            message:
                "a String may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason"
        )
        public mutating func appendInterpolation(_ string: String) {}

        @available(
            *, unavailable,
            message:
                "a Substring may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason"
        )
        public mutating func appendInterpolation(_ string: Substring) {}

        @available(
            *, unavailable, message: "bytes may hold a secret; log their count instead"
        )
        public mutating func appendInterpolation(_ bytes: Span<UInt8>) {}

        @available(
            *, unavailable, message: "only Loggable values can be logged: unwrap it, or conform its type to Loggable"
        )
        public mutating func appendInterpolation<Value: ~Copyable>(_ value: borrowing Value) {}
    }
}
