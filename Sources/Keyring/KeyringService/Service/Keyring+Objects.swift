internal import LatchkeyCredentials
internal import LatchkeyDBus

/// Which object a path is, and which method a call is for.
extension Keyring {
    /// An object that is there, or may be: an item is looked for by what is done with it.
    enum Object {
        case service
        /// By its name.
        case collection(String)
        case item(String, ItemID)
        case session(KeyringSession)
        case prompt(KeyringPrompt)
        case portal
        case folder(String)

        var interfaces: [BusInterface] {
            let own: [BusInterface] =
                switch self {
                case .service: [.service, .agents]
                case .collection: [.collection]
                case .item: [.item]
                case .session: [.session]
                case .prompt: [.prompt]
                case .portal: [.portalSecret]
                case .folder: []
                }
            return own + [.properties, .introspectable]
        }
    }

    /// The names of all collections, in the order of the vault, and the one in memory last.
    func collectionNames() -> [String] {
        let names = vaultCollections.map(\.name)
        return names.contains(Self.sessionCollection) ? names : names + [Self.sessionCollection]
    }

    /// The collection that an alias names.
    func collection(alias: String) -> String? {
        if let named = vaultCollections.first(where: { $0.aliases.contains(alias) }) { return named.name }
        if alias == Self.sessionCollection { return Self.sessionCollection }
        // go-keyring and others look for this one, whatever it is called.
        if alias == "login" { return vaultCollections.first?.name }
        return nil
    }

    /// The collection of a name or alias, or `nil` when there is none. A vault that was never open may have more
    /// than it shows: then it throws IsLocked.
    func collection(_ name: KeyringPath.CollectionName) async throws(BusFault) -> String? {
        if let found = knownCollection(name) { return found }
        // It may be a collection that only an open vault shows.
        if vault == nil { _ = try await openVault() }
        return knownCollection(name)
    }

    private func knownCollection(_ name: KeyringPath.CollectionName) -> String? {
        switch name {
        case .name(let name): collectionNames().first { $0 == name }
        case .alias(let alias): collection(alias: alias)
        }
    }

    private func object(at path: String) async throws(BusFault) -> Object {
        switch KeyringPath(path) {
        case .service: return .service
        case .portal: return .portal
        case .folder(let path): return .folder(path)
        case .collection(let name):
            if let name = try await collection(name) { return .collection(name) }
        case .item(let name, let id):
            if let name = try await collection(name) { return .item(name, id) }
        case .session(let id):
            if let session = sessions[KeyringPath.session(id).text], session.client == sender {
                return .session(session)
            }
        case .prompt(let id):
            if let prompt = prompts[KeyringPath.prompt(id).text], prompt.client == sender { return .prompt(prompt) }
        case nil: break
        }
        throw .unknownObject
    }

    /// Does what a call asks for, and returns what goes back: a tuple; `nil` where that comes later.
    func respond(to call: BusCall) async throws(BusFault) -> BusValue? {
        let object = try await object(at: call.path)
        let offered = object.interfaces.filter { call.interface == nil || $0.name.description == call.interface }
        guard !offered.isEmpty else { throw BusFault(.unknownInterface, "the object has no such interface") }
        for interface in offered {
            guard let method = interface.method(call.member) else { continue }
            guard call.arguments.is(method.type) else { throw .invalid("the arguments have other types") }
            return try await perform(method.name.description, of: interface, on: object, call)
        }
        throw .unknownMethod
    }

    /// Each interface is named here: a method of an interface that isn't is nobody's.
    private func perform(
        _ method: String, of interface: BusInterface, on object: Object, _ call: BusCall
    ) async throws(BusFault) -> BusValue? {
        let arguments = call.arguments
        switch (interface.name.description, object) {
        case (BusInterface.properties.name.description, _):
            return try await performOnProperties(method, object, arguments)
        case (BusInterface.introspectable.name.description, _):
            // GDBus itself responds to the methods of `peer`, before an object is looked for.
            return .tuple([
                .string(BusInterface.document(object.interfaces + [.peer], children: try await children(of: object)))
            ])
        case (BusInterface.agents.name.description, .service): return try await performForAgent(method)
        case (BusInterface.service.name.description, .service):
            if method == "GetSecrets" { return try await secrets(call) }
            return try await performOnService(method, arguments)
        case (BusInterface.collection.name.description, .collection(let name)):
            return try await performOnCollection(method, name, arguments)
        case (BusInterface.item.name.description, .item(let name, let id)):
            return try await performOnItem(method, id, in: name, arguments)
        case (BusInterface.session.name.description, .session(let session)): return close(session)
        case (BusInterface.prompt.name.description, .prompt(let prompt)):
            return try await perform(method, on: prompt)
        case (BusInterface.portalSecret.name.description, .portal): return try await performForPortal(arguments)
        default: throw .unknownMethod
        }
    }

    // MARK: - Introspection

    private func children(of object: Object) async throws(BusFault) -> [String] {
        switch object {
        case .service: return ["aliases", "collection", "prompt", "session"]
        case .folder("/"): return ["org"]
        case .folder("/org"): return ["freedesktop"]
        case .folder("/org/freedesktop"): return ["secrets"]
        case .folder(KeyringPath.root + "/collection"):
            _ = try? await openVault()
            return collectionNames()
        case .folder(KeyringPath.root + "/aliases"):
            _ = try? await openVault()
            return aliases()
        case .collection(let name):
            guard let store = try? await store(of: name) else { return [] }
            return try await use(store) { (store, deadline) async throws(StoreError) in
                try await store.items(in: name, deadline: deadline).map(\.element)
            }
        default: return []
        }
    }

    private func aliases() -> [String] {
        var all = Set(vaultCollections.flatMap(\.aliases))
        all.formUnion([Self.sessionCollection, "login"])
        return all.sorted()
    }

    // MARK: - Arguments

    /// The session of an argument, which must be this connection's.
    func session(_ path: BusValue) throws(BusFault) -> KeyringSession {
        guard let session = sessions[path.text], session.client == sender else { throw .noSession }
        return session
    }

    func attributes(_ value: BusValue) throws(BusFault) -> ItemAttributes {
        guard let attributes = value.attributes else {
            throw .invalid("the attributes are too many or too large, or one has no name")
        }
        return attributes
    }

    /// Enough for one made of the longest service and account, as our own client makes it.
    private static let maximumLabelByteCount = 4096

    func label(_ value: BusValue?) throws(BusFault) -> String {
        let label = value?.text ?? ""
        guard label.utf8.count <= Self.maximumLabelByteCount else { throw .invalid("the label is too long") }
        return label
    }
}

extension BusValue {
    static func dictionary(_ attributes: ItemAttributes) -> BusValue {
        dictionary(attributes.all.map { ($0.name, $0.value) })
    }

    /// The attributes of a dictionary of strings (`a{ss}`), or `nil` for such as no item may have.
    var attributes: ItemAttributes? {
        // Counted before anything is copied.
        guard `is`("a{ss}"), count <= ItemAttributes.maximumCount, byteCount <= 2 * ItemAttributes.maximumByteCount
        else { return nil }
        return ItemAttributes(children.map { ItemAttributes.Attribute(name: $0[0].text, value: $0[1].text) })
    }
}
