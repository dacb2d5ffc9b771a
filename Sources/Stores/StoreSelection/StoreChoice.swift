public import LatchkeyCredentials
public import LatchkeyLog

/// Where the name of a chosen store comes from.
public enum StoreChoiceSource: Sendable, Hashable {
    /// `--store`; or `--vault`, which means the vault; or `--collection`, which means the keyring.
    case argument
    /// `LATCHKEY_STORE`, `LATCHKEY_VAULT` or `LATCHKEY_COLLECTION`, as the options.
    case environment
    /// The configuration file.
    case configuration
    /// An earlier run found it and remembered it.
    case remembered
    /// Found just now, by asking each store in turn.
    case probed

    /// The message for a name that doesn't belong to a store.
    fileprivate var absence: LogMessage {
        switch self {
        case .argument: "unknown store"
        case .environment: "unknown store in LATCHKEY_STORE"
        case .configuration: "unknown store in the configuration"
        case .remembered, .probed: "this program doesn't know the store that was used before"
        }
    }

    /// Safe: fixed words.
    package var logMessage: LogMessage {
        switch self {
        case .argument: "set on the command line"
        case .environment: "set in the environment"
        case .configuration: "set in the configuration"
        case .remembered: "used before"
        case .probed: "the first one that works"
        }
    }
}

/// Why a store of the catalogue wasn't chosen.
public struct StoreRefusal: Sendable, Hashable, Loggable {
    /// As `--store` takes it, such as `vault` or `secret-service`.
    public let name: LogMessage
    /// The error of the probe or of the opening.
    public let error: StoreError

    package init(name: StaticString, error: StoreError) {
        self.name = "\(name)"
        self.error = error
    }

    /// Safe: a fixed name and a redacted error.
    public var logMessage: LogMessage { "\(name): \(error)" }

    /// Whether the store exists but lacks a place for credentials, such as a keyring on a new desktop: the error's hint
    /// contains the option that creates one.
    fileprivate var lacksCollection: Bool { error.recoveries.contains(.createCollection) }
}

/// Which store is used, who said so, and why the ones before it were not.
public struct StoreChoice: Sendable, Loggable, CustomStringConvertible {
    package let backend: StoreBackend
    /// `probed` when no option named a store and none was remembered.
    public let source: StoreChoiceSource
    /// In catalogue order; empty unless `source` is `probed`.
    public let refusals: [StoreRefusal]

    /// Safe: fixed names and redacted errors.
    public var logMessage: LogMessage {
        let choice: LogMessage = "\(backend.name) (\(source.logMessage))"
        return refusals.isEmpty
            ? choice : "\(choice); refused: \(LogMessage.joined(refusals.map(\.logMessage), separator: "; "))"
    }
    public var description: String { logMessage.text }
}

/// Why no store could be chosen, or why the chosen one can't be opened.
public struct StoreSelectionError: RedactedError, Hashable {
    package enum Problem: Sendable, Hashable {
        /// No store of the catalogue has this name.
        case unknownName(StoreChoiceSource)
        /// The in-memory store was set where its contents would be lost.
        case notPersistent
        /// Every store of the catalogue refused.
        case noneWorks([StoreRefusal])
        /// The chosen store can't be opened.
        case store(StoreError)
    }

    package let problem: Problem
    /// The names that are possible.
    package let names: [LogMessage]

    init(_ problem: Problem, catalogue: StoreCatalogue) {
        self.problem = problem
        names = catalogue.backends.filter(\.isPersistent).map { "\($0.name)" }
    }

    init(_ error: StoreError) {
        problem = .store(error)
        names = []
    }

    /// The error of the chosen store, such as `locked`, with its `codeName`, cause and hint; `nil` if no store could be
    /// chosen. The `codeName` is then `selection.no-store`, `selection.unknown-store` or `selection.not-persistent`.
    public var storeError: StoreError? {
        if case .store(let error) = problem { error } else { nil }
    }

    /// Whether no store exists: neither a vault, nor a keyring that could be unlocked or could get a collection.
    package var isNothingSetUp: Bool {
        guard case .noneWorks(let refusals) = problem else { return false }
        return refusals.allSatisfy { $0.error.code == .unavailable && !$0.lacksCollection }
            && refusals.contains { $0.error.recoveries.contains(.createVault) }
    }

    public var explanation: Explanation {
        switch problem {
        case .noneWorks where isNothingSetUp:
            .init(
                .unavailable, "selection.no-store",
                "no secret store is set up: no keyring is available, and no vault exists",
                hint: "\(Recovery.createVault)")
        case .unknownName(let source):
            .init(
                source == .argument ? .usage : .configuration, "selection.unknown-store", source.absence,
                hint: "set the store to \(LogMessage.joined(names, separator: " or "))")
        case .notPersistent:
            .init(
                .usage, "selection.not-persistent",
                "the in-memory store would forget its contents when this process ends",
                hint: "set the store to \(LogMessage.joined(names, separator: " or "))")
        case .noneWorks(let refusals):
            .init(
                .unavailable, "selection.no-store",
                "no store can be used; \(LogMessage.joined(refusals.map(\.logMessage), separator: "; "))",
                hint: refusals.contains(where: \.lacksCollection)
                    ? "\(Recovery.createCollection), or \(Recovery.createVault)"
                    : "\(Recovery.createVault), or start a keyring")
        case .store(let error): error.explanation
        }
    }
}
