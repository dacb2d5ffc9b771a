/// Text from elsewhere that someone has looked at: the only way for a `String` into a log.
///
/// Control characters, line separators and characters that change the direction of text are made inert, so that a line
/// of the log can't be forged (CWE-117), and what is longer than 16,384 bytes is cut, with its length said.
public struct LoggableText: Loggable, Sendable, Hashable {
    /// The most that is shown of one text, in bytes of UTF-8.
    package static let maximumByteCount = 16_384

    let text: String
    /// What is shown, where it is known already.
    private let inert: LogMessage?

    /// The text as it is, for output that does its own quoting, such as JSON.
    package var unredacted: String { text }

    /// - Parameters:
    ///   - reviewed: why this text holds no secret; for the reader of the source, never shown.
    ///   - unredacted: the text.
    public init(reviewed: StaticString, unredacted: String) {
        text = unredacted
        inert = nil
    }

    /// Text as C and the file system have it, which may be no UTF-8: other bytes are shown as `\x{ff}`.
    ///
    /// - Parameters:
    ///   - reviewed: why this text holds no secret; for the reader of the source, never shown.
    ///   - unredactedBytes: the text's bytes, without a closing zero.
    package init(reviewed: StaticString, unredactedBytes: [UInt8]) {
        text = String(decoding: unredactedBytes, as: UTF8.self)
        inert = LogMessage(foreign: InertText.escape(unredactedBytes, limit: Self.maximumByteCount))
    }

    public var logMessage: LogMessage {
        inert ?? LogMessage(foreign: InertText.escape(InertText.bounded(text, to: Self.maximumByteCount)))
    }
}
