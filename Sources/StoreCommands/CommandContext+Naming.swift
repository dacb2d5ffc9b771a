internal import LatchkeyEnvironment
internal import LatchkeyLog
internal import LatchkeySecretService
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal

/// Which store is named, and which part of it: by arguments, environment and configuration, in this order.
extension CommandContext {
    /// What one of the three places names. `nil`: it says nothing.
    private struct Naming {
        let store: String?
        let vault: String?
        let collection: String?
        let source: StoreChoiceSource

        /// A vault or a collection that is named is a choice of its store, at the rank of the place that names it.
        var named: NamedStore? {
            if let store { return NamedStore(name: store, source: source) }
            if vault != nil { return NamedStore(name: "vault", source: source) }
            if collection != nil { return NamedStore(name: "secret-service", source: source) }
            return nil
        }

        /// Throws when two names of one place belong to two stores. Outside of a command line, the store may be named
        /// apart from where each one is.
        func check() throws {
            let cause: LogMessage
            switch (store, vault, collection) {
            case (nil, .some, .some):
                cause = "a vault and a collection of the keyring are both named"
            case (.some(let store), .some, _) where source == .argument && store != "vault":
                cause = "--vault names a vault, but --store names another store"
            case (.some(let store), _, .some) where source == .argument && store != "secret-service":
                cause = "a collection of the keyring is named, but --store names another store"
            default: return
            }
            throw CommandFailure(
                source == .configuration ? .configuration : .usage, "selection.contradiction", cause,
                hint: source == .argument ? "leave one of them out" : "name the store as well")
        }
    }

    private static func namings(
        _ arguments: ParsedArguments, _ environment: ProgramEnvironment, _ configuration: StoreConfiguration
    ) -> [Naming] {
        [
            Naming(
                store: arguments.value(GlobalOptions.store), vault: arguments.value(GlobalOptions.vault),
                // Consent to making the default collection means the keyring too.
                collection: arguments.value(GlobalOptions.collection)
                    ?? (arguments.has(GlobalOptions.createCollection) ? "default" : nil),
                source: .argument),
            Naming(
                store: environment["LATCHKEY_STORE"], vault: environment["LATCHKEY_VAULT"],
                collection: environment["LATCHKEY_COLLECTION"], source: .environment),
            Naming(
                store: configuration.store, vault: configuration.vault, collection: configuration.collection,
                source: .configuration),
        ]
    }

    static func namedStore(
        _ arguments: ParsedArguments, _ environment: ProgramEnvironment, _ configuration: StoreConfiguration
    ) throws -> NamedStore? {
        for naming in namings(arguments, environment, configuration) {
            try naming.check()
            if let named = naming.named { return named }
        }
        return nil
    }

    static func collection(
        _ arguments: ParsedArguments, _ environment: ProgramEnvironment, _ configuration: StoreConfiguration
    ) throws -> SecretServiceConfiguration.Collection {
        if let name = arguments.value(GlobalOptions.collection) ?? environment["LATCHKEY_COLLECTION"] {
            return try .named(name)
        }
        guard let name = configuration.collection else { return .standard }
        do throws(InvalidValue) {
            return try .named(name)
        } catch {
            throw CommandFailure(error, .configuration)
        }
    }
}
