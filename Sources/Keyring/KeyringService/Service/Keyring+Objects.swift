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
        case session(ClientSession)
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

        var collection: String? { if case .collection(let name) = self { name } else { nil } }
        var item: (collection: String, id: ItemID)? {
            if case .item(let name, let id) = self { (name, id) } else { nil }
        }
        var session: ClientSession? { if case .session(let session) = self { session } else { nil } }
        var prompt: KeyringPrompt? { if case .prompt(let prompt) = self { prompt } else { nil } }
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
            guard call.arguments.type == method.type else { throw .invalid("the arguments have other types") }
            return try await method.perform(self, object, call)
        }
        throw .unknownMethod
    }

    func refuse(_ call: BusCall) throws(BusFault) -> BusValue { throw .unknownMethod }

    // MARK: - Introspection

    func introspect(_ object: Object, _: BusCall) async throws(BusFault) -> BusValue {
        let children = try await children(of: object)
        return .tuple([.string(BusInterface.document(object.interfaces + [.peer], children: children))])
    }

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
    func session(_ path: BusValue) throws(BusFault) -> ClientSession {
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
