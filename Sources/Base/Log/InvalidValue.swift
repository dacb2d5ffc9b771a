/// A text that can't be what it was given as: a credential's name, a URL, the name of a collection.
public struct InvalidValue: RedactedError, Hashable {
    package enum Kind: Sendable, Hashable { case credentialKey, url, collection }

    package let kind: Kind
    /// What is wrong with it; the text itself is left out.
    public let cause: LogMessage
    public let hint: LogMessage?

    package init(_ kind: Kind, _ cause: LogMessage, hint: LogMessage) {
        self.kind = kind
        self.cause = cause
        self.hint = hint
    }

    public var codeName: StaticString {
        switch kind {
        case .credentialKey: "key.invalid"
        case .url: "url.invalid"
        case .collection: "collection.invalid"
        }
    }
}
