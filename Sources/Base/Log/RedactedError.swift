/// What an error tells programs and people. It contains no secret and no text of another program.
public struct Explanation: Sendable {
    /// What a program can do about an error. The command line has an exit status for each.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// The credential, account or provider doesn't exist.
        case notFound
        /// The call or the command line is wrong.
        case usage
        /// Data that was given or stored is damaged, too large or invalid.
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
    /// What a program can do about the error.
    public let kind: Kind
    /// What happened, in a sentence without a full stop.
    public let cause: LogMessage
    /// What the person can do next, or `nil` if no step would help.
    public let hint: LogMessage?

    /// Makes what an error of your own tells. The code should have a prefix of yours, as in `photos.no-album`.
    public init(_ kind: Kind, _ code: StaticString, _ cause: LogMessage, hint: LogMessage? = nil) {
        self.code = code
        self.kind = kind
        self.cause = cause
        self.hint = hint
    }
}

/// An error that may be shown and logged as it is: its texts are made of literals and ``Loggable`` values.
public protocol RedactedError: Error, Loggable, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
    /// The error's code, kind, cause and hint.
    var explanation: Explanation { get }
}

extension RedactedError {
    /// A stable name for programs, such as `store.locked`.
    public var codeName: StaticString { explanation.code }
    /// What a program can do about the error.
    public var kind: Explanation.Kind { explanation.kind }
    /// What happened, in a sentence without a full stop.
    public var cause: LogMessage { explanation.cause }
    /// What the person can do next, or `nil` if no step would help.
    public var hint: LogMessage? { explanation.hint }

    public var logMessage: LogMessage {
        let explanation = explanation
        return "\(explanation.cause) [\(explanation.code)]"
    }
    public var description: String { logMessage.text }
    /// The description and the number of the system's error, if there was one: `… [store.cannot-write] errno=28`.
    public var debugDescription: String {
        let message = logMessage
        return message.fields.reduce(message.text) { "\($0) \($1.name)=\($1.value.text)" }
    }
}

/// A text that isn't valid as what it was given as: a credential's name, a URL, the name of a collection.
public struct InvalidValue: RedactedError, Hashable {
    package enum Subject: Sendable, Hashable { case credentialKey, url, collection }

    package let subject: Subject
    /// What is wrong with the text, which is left out.
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
