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
