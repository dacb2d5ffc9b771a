/// The text of a log message: literals and ``Loggable`` values, nothing else.
///
/// A secret, a `String`, an optional or any other value in an interpolation is a compile error that says what to do
/// instead; so is a literal built at run time. The text is made when the message is, and ``RedactedLogger`` makes it
/// only when the level is enabled.
public struct LogMessage: Loggable, Sendable, Hashable {
    /// The finished text, without control characters.
    public let text: String
    /// The ranges of text from elsewhere (`LoggableText`), as offsets in bytes of UTF-8, in order. Only these can
    /// contain a secret; the rest is from the source.
    package var foreignRanges: [Range<Int>] { foreign.map(\.range) }
    private let foreign: [Part]
    /// The places of the words of each `Recovery`, in order.
    private let placed: [PlacedRecovery]
    /// The data beside the text in the log and JSON: the number of a system's error, which the text has in words.
    package let fields: [LogField]

    /// A stored `Range` would have the runtime look for Int's conformance among all of the program.
    struct Part: Sendable {
        let start, end: Int
        var range: Range<Int> { start..<end }

        func moved(by count: Int) -> Part { Part(start: start + count, end: end + count) }
    }

    typealias PlacedRecovery = (part: Part, recovery: Recovery)

    public var logMessage: LogMessage { self }

    /// Text that is safe already.
    init(
        verbatim text: String, foreign: [Part] = [], recoveries: [PlacedRecovery] = [], fields: [LogField] = []
    ) {
        self.text = text
        self.foreign = foreign
        placed = recoveries
        self.fields = fields
    }

    /// Text from elsewhere, inert and bounded.
    package init(foreign text: String) {
        self.init(verbatim: text, foreign: [Part(start: 0, end: text.utf8.count)])
    }

    /// The same text with a field beside it, unless it has one of that name.
    package func with(_ field: LogField) -> LogMessage {
        LogMessage(verbatim: text, foreign: foreign, recoveries: placed, fields: fields.adding([field]))
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

    /// The recoveries in the message.
    package var recoveries: [Recovery] { placed.map(\.recovery) }

    /// The same message with another program's words for each recovery.
    public func wording(_ words: (Recovery) -> LogMessage) -> LogMessage {
        var whole = StringInterpolation(literalCapacity: text.utf8.count, interpolationCount: placed.count)
        var start = 0
        for (part, recovery) in placed {
            whole.append(self, Part(start: start, end: part.start))
            whole.appendInterpolation(words(recovery))
            start = part.end
        }
        whole.append(self, Part(start: start, end: text.utf8.count))
        whole.fields = fields
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
            verbatim: stringInterpolation.text, foreign: stringInterpolation.foreign,
            recoveries: stringInterpolation.recoveries, fields: stringInterpolation.fields)
    }

    public struct StringInterpolation: StringInterpolationProtocol {
        var text = ""
        fileprivate var foreign: [Part] = []
        var recoveries: [PlacedRecovery] = []
        fileprivate var fields: [LogField] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            text.reserveCapacity(literalCapacity + interpolationCount * 16)
        }

        public mutating func appendLiteral(_ literal: StaticString) {
            text += literal.description
        }

        /// Appends the value's `logMessage`. Only ``Loggable`` values can be appended.
        public mutating func appendInterpolation<Value: Loggable>(_ value: Value) {
            let message = value.logMessage
            if !message.foreign.isEmpty { note(message.foreign) }
            let start = text.utf8.count
            for (part, recovery) in message.placed { recoveries.append((part.moved(by: start), recovery)) }
            if !message.fields.isEmpty { fields = fields.adding(message.fields) }
            text += message.text
        }

        /// Appends a part of a message that begins and ends between its recoveries.
        fileprivate mutating func append(_ message: LogMessage, _ part: Part) {
            let bytes = message.text.utf8
            let (start, end) = (
                bytes.index(bytes.startIndex, offsetBy: part.start), bytes.index(bytes.startIndex, offsetBy: part.end)
            )
            note(
                message.foreign.map { Part(start: max($0.start, part.start), end: min($0.end, part.end)) }
                    .filter { $0.start < $0.end }.map { $0.moved(by: -part.start) })
            text += message.text[start..<end]
        }

        /// Two texts from elsewhere with nothing between them are one: a secret may begin in the first.
        private mutating func note(_ parts: [Part]) {
            let start = text.utf8.count
            for part in parts {
                let moved = part.moved(by: start)
                if let last = foreign.last, last.end == moved.start {
                    foreign[foreign.count - 1] = Part(start: last.start, end: moved.end)
                } else {
                    foreign.append(moved)
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
