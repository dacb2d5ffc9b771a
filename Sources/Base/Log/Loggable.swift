internal import CLatchkeyLinux

/// A value that a log message may contain.
///
/// A conformance composes a ``LogMessage`` from literals and from parts that are loggable themselves:
///
///     extension Order: Loggable {
///         // Safe: the number and the state are shown to every customer.
///         public var logMessage: LogMessage { "order \(number), \(state)" }
///     }
///
/// A ``LogMessage`` accepts nothing else, so a conformance can't let a secret or an arbitrary `String` through. The one
/// exception is ``LoggableText/init(reviewed:unredacted:)``; a checked list contains its uses. Each conformance has a
/// comment on why it is safe.
public protocol Loggable {
    /// The text for the log.
    var logMessage: LogMessage { get }
}

// MARK: - Standard

// Numbers, durations and truth values are our own measurements. A secret never has one of these types.

extension Int: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Int32: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Int64: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt16: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt32: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt64: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Double: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Bool: Loggable { public var logMessage: LogMessage { self ? "true" : "false" } }

extension Duration: Loggable {
    /// Seconds with three decimals, such as `1.250 s`.
    public var logMessage: LogMessage {
        // `components` traps for more seconds than an Int64 can hold.
        let components = min(max(self, .seconds(Int64.min)), .seconds(Int64.max)).components
        let milliseconds = components.attoseconds / 1_000_000_000_000_000
        let fraction = String(milliseconds.magnitude)
        let padding = String(repeating: "0", count: 3 - fraction.count)
        let sign = components.seconds < 0 || milliseconds < 0 ? "-" : ""
        return LogMessage(verbatim: "\(sign)\(components.seconds.magnitude).\(padding)\(fraction) s")
    }
}

// Safe: the text of a StaticString comes from the source.
extension StaticString: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }

// Safe: describes the protection of memory, not its content.
extension MemoryProtection: Loggable {
    package var logMessage: LogMessage {
        switch self {
        case .locked: "locked"
        case .unlocked: "not locked"
        }
    }
}

// Safe: the system's words for an error, without a path. The log and JSON show the number.
extension SystemErrorNumber: Loggable {
    package var logMessage: LogMessage {
        let words = unsafe latchkey_error_words(number).map { unsafe String(cString: $0) } ?? "System error \(number)"
        let rest = words.dropFirst()
        let isSentence = rest.first?.isLowercase ?? false
        return LogMessage(verbatim: isSentence ? words.prefix(1).lowercased() + rest : words)
            .with(LogField("errno", number))
    }
}

// Safe: the system's words for an error.
extension RandomSourceError: Loggable {
    public var logMessage: LogMessage { "the kernel returned no random bytes: \(SystemErrorNumber(number))" }
}

/// A reviewed text from outside the source: the only way to log a `String`.
///
/// Control characters, line separators and characters that change the direction of text are made inert, so that a text
/// can't forge a line of the log (CWE-117). A text of more than 16,384 bytes is cut, and shows its length.
public struct LoggableText: Loggable, Sendable, Hashable {
    /// The most that is shown of one text, in bytes of UTF-8.
    package static let maximumByteCount = 16_384

    /// The unchanged text, for output with its own quoting, such as JSON.
    package let unredacted: String

    /// - Parameters:
    ///   - reviewed: the reason why this text isn't secret, for readers of the source; never shown.
    ///   - unredacted: the text.
    public init(reviewed: StaticString, unredacted: String) {
        self.unredacted = unredacted
    }

    public var logMessage: LogMessage {
        LogMessage(foreign: InertText.escape(InertText.bounded(unredacted, to: Self.maximumByteCount)))
    }
}
