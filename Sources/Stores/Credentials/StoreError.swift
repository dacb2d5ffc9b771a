public import LatchkeyLog

/// An error of a store. Absence isn't an error: `read` returns `nil` and `delete` returns `false`.
public struct StoreError: RedactedError, Hashable {
    /// Codes with a stable name for logs and scripts, the error's `codeName`.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// The store can't be reached: no bus, no service, no file, the service died.
        case unavailable
        /// The store is locked, and questions are forbidden or impossible.
        case locked
        /// The person closed the prompt.
        case promptDismissed
        /// The deadline passed.
        case timedOut
        /// The task was cancelled.
        case cancelled
        /// The system or the store forbids it; wrong owner or mode of a file.
        case permissionDenied
        /// The stored data is damaged, or was changed by someone without the key.
        case corrupted
        /// The stored data is intact, but older than the last seen state.
        case rolledBack
        /// The passphrase or key file doesn't open this vault.
        case wrongKey
        /// The secret is larger than the store takes.
        case tooLarge
        /// A ``WriteCondition`` doesn't hold, or the object to create exists already.
        case conflict
        /// A name fits more than one thing, such as two collections of a keyring with one label.
        case ambiguous
        /// Another process holds what is needed.
        case busy
        /// The system couldn't write: full or read-only disk, I/O error.
        case cannotWrite
        /// The store doesn't have this operation; see ``StoreCapabilities``.
        case unsupported
        /// The store broke its own protocol.
        case protocolViolation

        /// The stable name, such as `store.locked`.
        package var name: StaticString { row.name }

        fileprivate var row: (kind: Explanation.Kind, name: StaticString) {
            switch self {
            case .unavailable: (.unavailable, "store.unavailable")
            case .locked: (.refused, "store.locked")
            case .promptDismissed: (.refused, "store.prompt-dismissed")
            case .timedOut: (.tryAgain, "store.timed-out")
            case .cancelled: (.interrupted, "store.cancelled")
            case .permissionDenied: (.refused, "store.permission-denied")
            case .corrupted: (.badData, "store.corrupted")
            case .rolledBack: (.refused, "store.rolled-back")
            case .wrongKey: (.refused, "store.wrong-key")
            case .tooLarge: (.badData, "store.too-large")
            case .conflict: (.cannotWrite, "store.conflict")
            case .ambiguous: (.usage, "store.ambiguous")
            case .busy: (.tryAgain, "store.busy")
            case .cannotWrite: (.cannotWrite, "store.cannot-write")
            case .unsupported: (.unavailable, "store.unsupported")
            case .protocolViolation: (.protocolError, "store.protocol-violation")
            }
        }
    }

    /// The code that a program decides by; cause and hint are for people.
    public let code: Code
    public let cause: LogMessage
    public let hint: LogMessage?
    /// The number the platform gave, where there was one.
    public let platform: PlatformCode?

    /// For a store's own errors. No hint is `nil`; where the platform gave a number, pass it on.
    public init(_ code: Code, _ cause: LogMessage, hint: LogMessage? = nil, platform: PlatformCode? = nil) {
        self.code = code
        self.cause = cause
        self.hint = hint
        self.platform = platform
    }

    public var explanation: Explanation { .init(code.row.kind, code.row.name, cause, hint: hint) }

    public var logMessage: LogMessage {
        let message: LogMessage = "\(cause) [\(codeName)]"
        guard let platform else { return message }
        return message.with(LogField(foreign: platform.domain.unredacted, platform.number.logMessage))
    }

    /// A library that the store needs can't be loaded.
    package init(_ failure: LibraryFailure) {
        self.init(.unavailable, failure.cause, hint: failure.hint.map { "\($0), or \(Recovery.chooseStore)" })
    }

    /// Whether the stored data is damaged.
    package var isCorruption: Bool { code == .corrupted }
    /// Another process is writing.
    package var isBusy: Bool { code == .busy }

    package static var cancelled: StoreError { StoreError(.cancelled, "the operation was cancelled") }

    package static var timedOut: StoreError {
        StoreError(.timedOut, "the store did not respond in time", hint: "try again, or \(Recovery.allowMoreTime)")
    }
}

/// An error number of the system or a library, such as `errno 28` or `g-io-error-quark 39`.
public struct PlatformCode: Sendable, Hashable, Loggable {
    /// The origin of the number: `errno`, `sqlite`, or GLib's name for a kind of errors.
    public let domain: LoggableText
    /// The platform's number: an errno, an extended result code of SQLite, or a GError's code.
    public let number: Int

    package init(domain: LoggableText, number: Int) {
        self.domain = domain
        self.number = number
    }

    /// An error number of the system (errno(3)), under the domain `errno`.
    public static func errno(_ number: Int32) -> PlatformCode {
        PlatformCode(domain: LoggableText(reviewed: "a word of ours", unredacted: "errno"), number: Int(number))
    }

    /// Safe: a library's name for its errors, and a number.
    public var logMessage: LogMessage { "\(domain) \(number)" }
}
