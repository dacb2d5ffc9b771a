internal import LatchkeySecretService

/// The choice of the store and of the stores' locations by arguments, environment or configuration.
struct StoreNaming {
    let source: StoreChoiceSource
    let store: String?
    /// By the stores' names.
    let places: [String: String]

    /// The three sources, the one that counts most first.
    static func all(
        _ arguments: ParsedArguments, _ environment: ProgramEnvironment, _ configuration: StoreConfiguration,
        _ catalogue: StoreCatalogue
    ) -> [StoreNaming] {
        var named = catalogue.places { GlobalOptions.place(of: $0).flatMap { arguments.value($0) } }
        // Consent to making the default collection means the keyring too.
        if arguments.has(GlobalOptions.createCollection), named["secret-service"] == nil {
            named["secret-service"] = "default"
        }
        return [
            StoreNaming(source: .argument, store: arguments.value(GlobalOptions.store), places: named),
            StoreNaming(
                source: .environment, store: environment["LATCHKEY_STORE"], places: catalogue.places(in: environment)),
            StoreNaming(source: .configuration, store: configuration.store, places: configuration.places),
        ]
    }

    /// A location chooses its store, with the rank of its source.
    ///
    /// Throws if two locations of one source belong to two stores. Outside of a command line, the store may be set
    /// separately from the locations.
    fileprivate func named(in catalogue: StoreCatalogue) throws(CommandFailure) -> NamedStore? {
        let backends = catalogue.backends.filter { places[$0.name.description] != nil }
        let nouns = backends.compactMap { $0.place?.noun }
        if let store {
            if source == .argument { try catalogue.check(store, namedBy: "--store") }
            if source == .argument, let other = backends.first(where: { $0.name.description != store })?.place?.noun {
                throw contradiction("\(other) is set, but --store names another store")
            }
            return NamedStore(name: store, source: source)
        }
        guard nouns.count < 2 else { throw contradiction("\(nouns[0]) and \(nouns[1]) are both set") }
        return backends.first.map { NamedStore(name: $0.name.description, source: source) }
    }

    private func contradiction(_ cause: LogMessage) -> CommandFailure {
        let hint: LogMessage =
            switch source {
            case .argument: "remove one of the options"
            case .environment: "set LATCHKEY_STORE too, to secret-service or vault"
            default: "set `store` in the configuration too, to secret-service or vault"
            }
        return CommandFailure(
            source == .configuration ? .configuration : .usage, "selection.contradiction", cause, hint: hint)
    }
}

extension [StoreNaming] {
    /// The chosen store, or `nil`.
    func store(in catalogue: StoreCatalogue) throws(CommandFailure) -> NamedStore? {
        for naming in self { if let named = try naming.named(in: catalogue) { return named } }
        return nil
    }

    /// The location of each store from the first source that has one.
    var places: [String: String] {
        reduce(into: [:]) { places, naming in places.merge(naming.places) { first, _ in first } }
    }

    /// The keyring's collection.
    func collection() throws -> SecretServiceConfiguration.Collection {
        guard let naming = first(where: { $0.places["secret-service"] != nil }),
            let name = naming.places["secret-service"]
        else { return .standard }
        do throws(InvalidValue) {
            return try .named(name)
        } catch {
            if naming.source == .configuration { throw CommandFailure(error, .configuration) }
            throw error
        }
    }
}

extension StoreCatalogue {
    /// Throws if an option names a store that isn't in the catalogue. The error doesn't repeat the value, because it may be
    /// a secret in the wrong place.
    ///
    /// - Parameter otherwise: the other values of the option.
    func check(_ name: String, namedBy option: LogMessage, otherwise: LogMessage? = nil) throws(CommandFailure) {
        if self[name] != nil { return }
        let names = backends.filter(\.isPersistent).map(\.name)
        let all: LogMessage = "the stores are \(LogMessage.joined(names.map { "\($0)" }))"
        let list = otherwise.map { "\(all); \($0)" as LogMessage } ?? all
        let hint = Suggestion.nearest(to: name, in: names).map { "did you mean \($0)? \(list)" as LogMessage } ?? list
        let shown = CommandFailure.name(name).map { " \"\($0)\"" as LogMessage } ?? ""
        throw CommandFailure(.usage, "selection.unknown-store", "unknown store\(shown) in \(option)", hint: hint)
    }
}
