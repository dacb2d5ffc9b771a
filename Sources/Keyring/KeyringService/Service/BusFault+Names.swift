package import LatchkeyCredentials
package import LatchkeyDBus

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
