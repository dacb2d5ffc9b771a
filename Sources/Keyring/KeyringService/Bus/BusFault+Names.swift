package import LatchkeyCredentials

/// The names of errors that clients go by.
extension StaticString {
    static var isLocked: StaticString { "org.freedesktop.Secret.Error.IsLocked" }
    static var noSession: StaticString { "org.freedesktop.Secret.Error.NoSession" }
    static var noSuchObject: StaticString { "org.freedesktop.Secret.Error.NoSuchObject" }
    static var notSupported: StaticString { "org.freedesktop.DBus.Error.NotSupported" }
    static var unknownObject: StaticString { "org.freedesktop.DBus.Error.UnknownObject" }
    static var unknownInterface: StaticString { "org.freedesktop.DBus.Error.UnknownInterface" }
    static var unknownMethod: StaticString { "org.freedesktop.DBus.Error.UnknownMethod" }
    static var unknownProperty: StaticString { "org.freedesktop.DBus.Error.UnknownProperty" }
    static var propertyReadOnly: StaticString { "org.freedesktop.DBus.Error.PropertyReadOnly" }
    static var invalidArguments: StaticString { "org.freedesktop.DBus.Error.InvalidArgs" }
    static var limitsExceeded: StaticString { "org.freedesktop.DBus.Error.LimitsExceeded" }
    static var accessDenied: StaticString { "org.freedesktop.DBus.Error.AccessDenied" }
    static var timeout: StaticString { "org.freedesktop.DBus.Error.Timeout" }
    static var failed: StaticString { "org.freedesktop.DBus.Error.Failed" }
    static var inputOutput: StaticString { "org.freedesktop.DBus.Error.IOError" }
    static var disconnected: StaticString { "org.freedesktop.DBus.Error.Disconnected" }
}

extension BusFault {
    static let noSession = BusFault(.noSession, "the session isn't one of this connection's")
    static let noSuchObject = BusFault(.noSuchObject, "there is no such object")
    static let unknownObject = BusFault(.unknownObject, "there is no such object")
    static let unknownMethod = BusFault(.unknownMethod, "the object has no such method")
    static let unknownProperty = BusFault(.unknownProperty, "the object has no such property")
    static let collectionIsLocked = BusFault(.isLocked, "the collection is locked")
    static let unreadResponses = BusFault(.limitsExceeded, "this connection doesn't read its responses")
    static let tooManyCalls = BusFault(.limitsExceeded, "too many calls of this connection are waiting")

    static func invalid(_ text: StaticString) -> BusFault { BusFault(.invalidArguments, text.description) }

    /// What a client is told of a store's refusal.
    ///
    /// - Parameter words: how this program words an error and its hint.
    package init(_ error: StoreError, words: (StoreError) -> String) {
        let name: StaticString =
            switch error.code {
            // What helps against each is to unlock, which is what clients do on this name, and on no other.
            case .locked, .promptDismissed, .wrongKey: .isLocked
            case .timedOut, .busy: .timeout
            case .permissionDenied: .accessDenied
            case .tooLarge: .limitsExceeded
            case .unsupported: .notSupported
            case .corrupted, .rolledBack, .cannotWrite: .inputOutput
            case .unavailable, .cancelled, .conflict, .ambiguous, .protocolViolation: .failed
            }
        self.init(name, words(error))
    }
}
