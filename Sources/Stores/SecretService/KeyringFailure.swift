package import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeyLog

/// Why a step of an operation failed.
enum KeyringFailure: Error {
    /// The deadline passed or the task was cancelled.
    case interrupted
    case bus(BusFault)
    /// The collection isn't there, for this reason; it could be made.
    case noCollection(StoreError)
    case store(StoreError)
}

// MARK: - What a failure means

extension BusFault {
    var platform: PlatformCode {
        PlatformCode(
            domain: LoggableText(reviewed: "GLib's name for a kind of errors", unredacted: domain), number: number)
    }

    enum Meaning {
        /// Nobody offers the Secret Service; the call was not delivered.
        case noService
        /// The bus could not start the service, or not in time.
        case notStarted
        /// The service doesn't know our session: it is another process than the one that opened it.
        case noSession
        /// The connection or the service died while it held the call: it may have been carried out.
        case lost
        case cancelled
        case isLocked
        case noSuchObject
        case accessDenied
        /// The service can't make sense of what it was sent.
        case badArguments
        case wrongType
        case tooLarge
        case other
    }

    var meaning: Meaning {
        switch name {
        case StaticString.isLocked.description: return .isLocked
        case StaticString.noSession.description: return .noSession
        case StaticString.noSuchObject.description: return .noSuchObject
        default: break
        }
        switch (domain, number) {
        // gioenums.h
        case ("g-dbus-error-quark", 2), ("g-dbus-error-quark", 3): return .noService
        // TimedOut and Spawn.* of D-Bus.
        case ("g-dbus-error-quark", 20), ("g-dbus-error-quark", 23...34): return .notStarted
        case ("g-dbus-error-quark", 4), ("g-dbus-error-quark", 15): return .lost
        case ("g-dbus-error-quark", 9): return .accessDenied
        case ("g-dbus-error-quark", 16): return .badArguments
        case ("g-dbus-error-quark", 8), ("g-dbus-error-quark", 1): return .tooLarge
        case ("g-dbus-error-quark", 19), ("g-dbus-error-quark", 41), ("g-dbus-error-quark", 42):
            return .noSuchObject
        case ("g-io-error-quark", 19): return .cancelled
        case ("g-io-error-quark", 18), ("g-io-error-quark", 44): return .lost
        case ("g-io-error-quark", 13): return .wrongType
        case ("g-io-error-quark", 24): return .lost
        default: return .other
        }
    }
}

extension StoreError {
    private static let useVault: LogMessage =
        "or \(Recovery.chooseStore); \(Recovery.diagnose)"

    static func noSessionBus(_ failure: BusFault?) -> StoreError {
        StoreError(
            .unavailable, "no session bus is running to reach a keyring",
            hint:
                "log in to a desktop session, and check DBUS_SESSION_BUS_ADDRESS; \(useVault)",
            platform: failure?.platform)
    }

    static let busTimedOut = StoreError(
        .timedOut, "the session bus did not respond in time",
        hint: "try again, or \(Recovery.allowMoreTime); \(Recovery.diagnose)")

    static func noKeyringService(_ failure: BusFault?) -> StoreError {
        StoreError(
            .unavailable, "no keyring is running on the session bus",
            hint:
                "start gnome-keyring-daemon, or switch the Secret Service on in KeePassXC's settings; \(useVault)",
            platform: failure?.platform)
    }

    package static let keyringLocked = StoreError(
        .locked, "the keyring is locked, and its password dialog is forbidden",
        hint: "unlock the keyring in your keyring application, or \(Recovery.allowPrompt)")

    package static let keyringAsks = StoreError(
        .locked, "the keyring wants to ask before it does that, and its dialog is forbidden",
        hint: "switch off that question in your keyring application, or \(Recovery.allowPrompt)")

    package static let keyringStaysLocked = StoreError(
        .locked, "the keyring stayed locked",
        hint: "unlock the keyring in your keyring application, which needs a display to ask for the password")

    package static let keyringPromptDismissed = StoreError(
        .promptDismissed, "the keyring's prompt was dismissed, or could not be shown",
        hint: "try again and enter the keyring's password; without a display \(Recovery.chooseStore)")

    static let keyringTimedOut = StoreError(
        .timedOut, "the keyring service did not respond in time",
        hint: "answer the unlock dialog if one is open; otherwise try again, or \(Recovery.allowMoreTime)")

    static let keyringWentAway = keyringWentAway(nil)

    static func keyringWentAway(_ failure: BusFault?) -> StoreError {
        StoreError(
            .unavailable, "the keyring service ended during the operation",
            hint: "try again; a change may or may not have been made", platform: failure?.platform)
    }

    static let keyringStaysOpen = StoreError(
        .unsupported, "the keyring service did not lock the keyring", hint: "lock it in your keyring application")

    static let keyringKind = StoreError(
        .unsupported, "a keyring would read an item with the attribute latchkey:kind as a sign-in")

    static let keyringBrokeProtocol = keyringBrokeProtocol(nil)

    static func keyringBrokeProtocol(_ failure: BusFault?) -> StoreError {
        StoreError(
            .protocolViolation, "the keyring service sent a reply of the wrong form",
            hint: "restart the keyring service; \(Recovery.diagnose)", platform: failure?.platform)
    }

    static let keyringSecretUnsendable = StoreError(
        .protocolViolation, "the secret could not be encrypted for the keyring service", hint: "try again")

    static let keyringKeepsChanging = StoreError(
        .busy, "other programs keep changing or locking the credential", hint: "try again")

    static let keyringSecretUnreadable = StoreError(
        .protocolViolation, "the keyring service sent a secret that its session does not decrypt",
        hint: "try again; if it stays, restart the keyring service")
}

extension KeyringFailure {
    /// Whether a new session may do better, with nothing changed so far: the service was restarted since, or it
    /// doesn't know the session or its key. KWallet 5.103 forgets one session in 256 so, and says that an object is
    /// missing.
    var mayBeSessions: Bool {
        switch self {
        case .bus(let failure):
            switch failure.meaning {
            case .noService, .noSession, .badArguments: true
            default: false
            }
        case .store(let error): error == .keyringSecretUnreadable || error == .keyringKeepsChanging
        case .interrupted, .noCollection: false
        }
    }

    /// Whether the session can no longer be used.
    var endsSession: Bool {
        if case .bus(let failure) = self, failure.meaning == .lost { return true }
        return mayBeSessions
    }

    /// Whether the object of a call doesn't exist.
    var isNoSuchObject: Bool {
        if case .bus(let failure) = self { failure.meaning == .noSuchObject } else { false }
    }

    var isNoCollection: Bool {
        if case .noCollection = self { true } else { false }
    }

    /// The error for the caller of the store.
    var storeError: StoreError {
        switch self {
        case .store(let error), .noCollection(let error): return error
        case .interrupted: return Task.isCancelled ? .cancelled : .keyringTimedOut
        case .bus(let failure):
            switch failure.meaning {
            case .cancelled: return Task.isCancelled ? .cancelled : .keyringTimedOut
            case .noService, .notStarted: return .noKeyringService(failure)
            case .noSession, .lost: return .keyringWentAway(failure)
            case .isLocked:
                return StoreError(
                    .locked, "the keyring was locked during the operation", hint: "unlock the keyring, then try again",
                    platform: failure.platform)
            case .noSuchObject:
                return StoreError(
                    .protocolViolation, "the keyring service no longer knows an object that it returned",
                    hint: "try again; another program may have deleted it", platform: failure.platform)
            case .accessDenied:
                return StoreError(
                    .permissionDenied, "the session bus or the keyring service forbids the operation",
                    hint: "permit it where the sandbox or the keyring was started (org.freedesktop.secrets)",
                    platform: failure.platform)
            case .wrongType:
                return .keyringBrokeProtocol(failure)
            case .tooLarge:
                return StoreError(
                    .tooLarge, "the secret is too large for the session bus or the keyring service",
                    platform: failure.platform)
            case .badArguments, .other:
                return StoreError(
                    .cannotWrite, "the keyring service refused the operation",
                    hint: "check the keyring service's log, and that its disk isn't full",
                    platform: failure.platform)
            }
        }
    }
}
