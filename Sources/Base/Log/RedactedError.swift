/// An error's description for programs and people, free of secrets and of other programs' text.
public struct Explanation: Sendable {
    /// The kind of an error, which tells a program what it can do. The command line has an exit status for each kind.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The credential, account or provider doesn't exist.
        case notFound
        /// The call or the command line is wrong.
        case usage
        /// Passed or stored data is damaged, too large or invalid.
        case badData
        /// The store or the server can't be reached.
        case unavailable
        /// A bug in Latchkey, or in a step of the caller's own.
        case internalError
        /// The store, a file or standard output can't be written, or another program has changed what was to be
        /// replaced.
        case cannotWrite
        /// A timeout, or another process is busy. The same call can succeed later.
        case tryAgain
        /// The server or the store broke its protocol.
        case protocolError
        /// Access was denied, or the store is locked. A person has to sign in, unlock the store or allow access.
        case refused
        /// The configuration is wrong.
        case configuration
        /// The task was cancelled, or the program was interrupted.
        case interrupted
    }

    /// A stable name for programs, such as `store.locked`.
    public let code: StaticString
    /// The kind, which tells a program what it can do.
    public let kind: Kind
    /// The cause, in a sentence without a full stop.
    public let cause: LogMessage
    /// The next step for the person, or `nil` if no step would help.
    public let hint: LogMessage?

    /// Makes the explanation of your own error. Give the code a prefix, as in `photos.no-album`.
    public init(_ kind: Kind, _ code: StaticString, _ cause: LogMessage, hint: LogMessage? = nil) {
        self.code = code
        self.kind = kind
        self.cause = cause
        self.hint = hint
    }
}

/// An error that is safe to show and to log: its texts consist of literals and ``Loggable`` values.
public protocol RedactedError: Error, Loggable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The error's code, kind, cause and hint.
    var explanation: Explanation { get }
}

extension RedactedError {
    /// A stable name for programs, such as `store.locked`.
    public var codeName: StaticString { explanation.code }
    /// The kind, which tells a program what it can do.
    public var kind: Explanation.Kind { explanation.kind }
    /// The cause, in a sentence without a full stop.
    public var cause: LogMessage { explanation.cause }
    /// The next step for the person, or `nil` if no step would help.
    public var hint: LogMessage? { explanation.hint }

    public var logMessage: LogMessage {
        let explanation = explanation
        return "\(explanation.cause) [\(explanation.code)]"
    }
    public var description: String { logMessage.text }
    /// The description, with the number of the system's error if it has one: `… [store.cannot-write] errno=28`.
    public var debugDescription: String {
        let message = logMessage
        return message.fields.reduce(message.text) { "\($0) \($1.name)=\($1.value.text)" }
    }
}

/// An error: a text isn't a valid credential's name, URL or name of a collection.
public struct InvalidValue: RedactedError, Hashable {
    package enum Subject: Sendable, Hashable { case credentialKey, url, collection }

    package let subject: Subject
    /// The problem with the text, without the text.
    public let cause: LogMessage
    public let hint: LogMessage?

    package init(_ subject: Subject, _ cause: LogMessage, hint: LogMessage) {
        self.subject = subject
        self.cause = cause
        self.hint = hint
    }

    public var explanation: Explanation {
        switch subject {
        case .credentialKey: .init(.usage, "key.invalid", cause, hint: hint)
        case .url: .init(.usage, "url.invalid", cause, hint: hint)
        case .collection: .init(.usage, "collection.invalid", cause, hint: hint)
        }
    }
}
