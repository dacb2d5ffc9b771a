public import LatchkeySecrets

/// The text of a log message: literals and ``Loggable`` values, nothing else.
///
/// A secret, a `String`, an optional or any other value in an interpolation is a compile error that says what to do
/// instead; so is a literal built at run time. The text is made when the message is, and ``RedactedLogger`` makes it
/// only when the level is enabled.
public struct LogMessage: Loggable, Sendable, Hashable {
    /// The finished text, without control characters.
    public let text: String
    /// Where text from elsewhere stands in it (`LoggableText`), as offsets in bytes of UTF-8, in order. Only there can
    /// a secret stand at all; the rest is what the source says.
    package let foreignRanges: [Range<Int>]
    /// Where the words of a `Recovery` stand in it, in order.
    private let placed: [PlacedRecovery]

    typealias PlacedRecovery = (range: Range<Int>, recovery: Recovery)

    public var logMessage: LogMessage { self }

    /// Text that is safe already.
    init(verbatim text: String, foreignRanges: [Range<Int>] = [], recoveries: [PlacedRecovery] = []) {
        self.text = text
        self.foreignRanges = foreignRanges
        placed = recoveries
    }

    /// Text from elsewhere, inert and bounded.
    package init(foreign text: String) {
        self.init(verbatim: text, foreignRanges: [0..<text.utf8.count])
    }

    /// The messages in order, with `separator` between them.
    package static func joined(_ parts: [LogMessage], separator: StaticString = ", ") -> LogMessage {
        var whole = StringInterpolation(literalCapacity: 0, interpolationCount: parts.count)
        for (index, part) in parts.enumerated() {
            if index > 0 { whole.appendLiteral(separator) }
            whole.appendInterpolation(part)
        }
        return LogMessage(stringInterpolation: whole)
    }

    /// What would help, as the message says it.
    package var recoveries: [Recovery] { placed.map(\.recovery) }

    /// The same message with another program's words for each recovery.
    package func wording(_ words: (Recovery) -> LogMessage) -> LogMessage {
        var whole = StringInterpolation(literalCapacity: text.utf8.count, interpolationCount: placed.count)
        var start = 0
        for (range, recovery) in placed {
            whole.append(self, start..<range.lowerBound)
            whole.appendInterpolation(words(recovery))
            start = range.upperBound
        }
        whole.append(self, start..<text.utf8.count)
        return LogMessage(stringInterpolation: whole)
    }

    /// Messages are the same when their texts are.
    public static func == (left: LogMessage, right: LogMessage) -> Bool { left.text == right.text }

    public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension LogMessage: CustomStringConvertible {
    public var description: String { text }
}

extension LogMessage: ExpressibleByStringInterpolation {
    public init(stringLiteral value: StaticString) {
        self.init(verbatim: value.description)
    }

    public init(stringInterpolation: StringInterpolation) {
        self.init(
            verbatim: stringInterpolation.text, foreignRanges: stringInterpolation.foreignRanges,
            recoveries: stringInterpolation.recoveries)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        var foreignRanges: [Range<Int>] = []
        var recoveries: [PlacedRecovery] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        public mutating func appendLiteral(_ literal: StaticString) {
            text += literal.description
        }

        /// Appends the value's `logMessage`; what is not ``Loggable`` has no way in.
        public mutating func appendInterpolation<Value: Loggable>(_ value: Value) {
            let message = value.logMessage
            if !message.foreignRanges.isEmpty { note(message.foreignRanges) }
            let start = text.utf8.count
            for (range, recovery) in message.placed {
                recoveries.append((range.lowerBound + start..<range.upperBound + start, recovery))
            }
            text += message.text
        }

        /// Appends a part of a message that begins and ends between its recoveries.
        fileprivate mutating func append(_ message: LogMessage, _ part: Range<Int>) {
            let bytes = message.text.utf8
            let (start, end) = (
                bytes.index(bytes.startIndex, offsetBy: part.lowerBound),
                bytes.index(bytes.startIndex, offsetBy: part.upperBound)
            )
            note(
                message.foreignRanges.map { $0.clamped(to: part) }.filter { !$0.isEmpty }.map {
                    $0.lowerBound - part.lowerBound..<$0.upperBound - part.lowerBound
                })
            text += message.text[start..<end]
        }

        /// Two texts from elsewhere with nothing between them are one: a secret may begin in the first.
        private mutating func note(_ ranges: [Range<Int>]) {
            let start = text.utf8.count
            for range in ranges {
                let moved = range.lowerBound + start..<range.upperBound + start
                if let last = foreignRanges.last, last.upperBound == moved.lowerBound {
                    foreignRanges[foreignRanges.count - 1] = last.lowerBound..<moved.upperBound
                } else {
                    foreignRanges.append(moved)
                }
            }
        }

        // MARK: What can't be logged

        /// Unavailable, so that a `Secret` in a message doesn't compile.
        @available(*, unavailable, message: "a secret can't be logged; log its purpose or its key instead")
        public mutating func appendInterpolation<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) {}

        /// Unavailable: the type of a `String` doesn't say whether a secret is in it.
        @available(
            *, unavailable,
            message:
                "a String may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason"
        )
        public mutating func appendInterpolation(_ string: String) {}

        /// Unavailable: the type of a `Substring` doesn't say whether a secret is in it.
        @available(
            *, unavailable,
            message:
                "a Substring may hold a secret; log a Loggable value, or LoggableText(reviewed:unredacted:) with the reason"
        )
        public mutating func appendInterpolation(_ string: Substring) {}

        /// Unavailable: it is as such a span that `Secret.withExposedBytes` lends a secret.
        @available(
            *, unavailable, message: "bytes may hold a secret; log their count instead"
        )
        public mutating func appendInterpolation(_ bytes: Span<UInt8>) {}

        /// Unavailable: catches every other type, optionals among them, so that the compiler says what to do instead.
        @available(
            *, unavailable, message: "only Loggable values can be logged: unwrap it, or conform its type to Loggable"
        )
        public mutating func appendInterpolation<Value: ~Copyable>(_ value: borrowing Value) {}
    }
}
