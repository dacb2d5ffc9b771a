package import LatchkeyCredentials
package import LatchkeyDBus
internal import LatchkeySystem

/// Which object a path is, and which method a call is for.
extension Keyring {
    /// An object on the bus. Only the call itself looks for an item, so the item may not exist.
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

    /// The names of all collections in the vault's order, with the one in memory at the end.
    func collectionNames() -> [String] {
        let names = vaultCollections.map(\.name)
        return names.contains(Self.sessionCollection) ? names : names + [Self.sessionCollection]
    }

    /// The collection that an alias names.
    func collection(alias: String) -> String? {
        // Before the vault's aliases: clients expect that these secrets never reach a disk.
        if alias == Self.sessionCollection { return Self.sessionCollection }
        if let named = vaultCollections.first(where: { $0.aliases.contains(alias) }) { return named.name }
        // go-keyring and others look for this one, whatever it is called.
        if alias == "login" { return vaultCollections.first?.name }
        return nil
    }

    /// The collection of a name or alias, or `nil` when there is none. A vault that was never open may have more
    /// than it shows: then it throws IsLocked.
    func collection(_ name: KeyringPath.CollectionName) async throws(BusFault) -> String? {
        if opening > 0, let known = knownCollection(name), isInMemory(known) { return known }
        // Another process may have made, renamed or deleted some since.
        let refusal = await failure(BusFault.self, awaiting: try await openVault())
        if let found = knownCollection(name) { return found }
        if let refusal { throw refusal }
        return nil
    }

    func knownCollection(_ name: KeyringPath.CollectionName) -> String? {
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
            guard let name = try await collection(name) else { throw .noSuchObject }
            return .collection(name)
        case .item(let name, let id):
            guard let name = try await collection(name) else { throw .noSuchObject }
            return .item(name, id)
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
        guard !offered.isEmpty else { throw BusFault(.unknownInterface, "unknown interface") }
        for interface in offered {
            guard let method = interface.method(call.member) else { continue }
            guard call.arguments.type == method.type else { throw .invalid("the arguments have the wrong types") }
            return try await method.perform(self, object, call)
        }
        throw .unknownMethod
    }

    func mapFault<Value>(_ body: () async throws(StoreError) -> Value) async throws(BusFault) -> Value {
        let words = configuration.words
        return try await mappingError({ BusFault($0, words: words) }, body)
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
            throw .invalid("attributes need names, and may be 64 with 32768 bytes in all")
        }
        return attributes
    }

    /// Enough for one made of the longest service and account, as our own client makes it.
    private static let maximumLabelByteCount = 4096

    func label(_ value: BusValue?) throws(BusFault) -> String? {
        guard let label = value?.text else { return nil }
        guard label.utf8.count <= Self.maximumLabelByteCount else {
            throw .invalid("the label is longer than 4096 bytes")
        }
        return label
    }

    /// A property of what is to be created, or `nil`. Throws if it has another type.
    func property(_ name: StaticString, _ type: StaticString, of properties: BusValue) throws(BusFault) -> BusValue? {
        if let value = properties.property(name, type) { return value }
        if properties.children.contains(where: { $0[0].text == name.description }) {
            throw .invalid("a property has the wrong type")
        }
        return nil
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

/// org.freedesktop.DBus.Properties.
extension Keyring {
    func getProperty(of object: Object, _ call: BusCall) async throws(BusFault) -> BusValue {
        let name = try property(of: object, call).name.description
        if name == "Items", case .collection(let collection) = object { _ = try await store(of: collection) }
        let values = try await values(of: object, withItems: name == "Items")
        guard let value = values.first(where: { $0.0 == name }) else { throw .unknownProperty }
        return .tuple([.boxed(value.1)])
    }

    func getProperties(of object: Object, _ call: BusCall) async throws(BusFault) -> BusValue {
        let hasProperties = try own(call[0].text, of: object) != nil
        return .tuple([.properties(hasProperties ? try await values(of: object) : [])])
    }

    func setProperty(of object: Object, _ call: BusCall) async throws(BusFault) -> BusValue {
        let property = try property(of: object, call)
        let value = call[2].unboxed
        guard property.isWritable else { throw BusFault(.propertyReadOnly, "the property can't be set") }
        guard value.is(property.type) else { throw .invalid("the property has the wrong type") }
        try await set(property.name.description, to: value, of: object)
        return .none
    }

    /// The property that a call is about.
    private func property(of object: Object, _ call: BusCall) throws(BusFault) -> BusInterface.Property {
        guard let property = try own(call[0].text, of: object)?.property(call[1].text) else { throw .unknownProperty }
        return property
    }

    /// The object's interface with properties, if the call is for that interface or for one without properties.
    private func own(_ name: String, of object: Object) throws(BusFault) -> BusInterface? {
        guard name.isEmpty || object.interfaces.contains(where: { $0.name.description == name }) else {
            throw BusFault(.unknownInterface, "unknown interface")
        }
        return object.interfaces.first { !$0.properties.isEmpty && (name.isEmpty || $0.name.description == name) }
    }

    /// - Parameter withItems: whether to list a collection's items, which takes longer than all else.
    private func values(of object: Object, withItems: Bool = true) async throws(BusFault) -> [(String, BusValue)] {
        switch object {
        case .portal: return [("version", .unsigned32(1))]
        case .service:
            _ = try? await openVault()
            return [("Collections", collectionPaths())]
        case .collection(let name):
            var items: [ItemID] = []
            if let store = try? await store(of: name), withItems {
                items = try await use(store) { (store, deadline) async throws(StoreError) in
                    try await store.items(in: name, deadline: deadline)
                }
                itemCounts[name] = items.count
            }
            let collection = try await known(name)
            return [
                ("Items", itemPaths(items, in: name)), ("Label", .string(collection.label)),
                ("Locked", .boolean(isLocked(name))), ("Created", Self.moment(collection.created)),
                ("Modified", Self.moment(collection.modified)),
            ]
        case .item(let name, let id):
            guard let item = try await item(id, in: name, try await store(of: name)) else { throw .noSuchObject }
            return [
                ("Locked", .boolean(isLocked(name))), ("Attributes", .dictionary(item.attributes)),
                ("Label", .string(item.label)), ("Created", Self.moment(item.created)),
                ("Modified", Self.moment(item.modified)),
            ]
        default: return []
        }
    }

    private func known(_ name: String) async throws(BusFault) -> ItemCollection {
        if isInMemory(name) {
            let deadline = deadline
            let own = try await mapFault { () async throws(StoreError) in
                try await sessionItems.collections(deadline: deadline)
            }
            if let collection = own.first { return collection }
        } else {
            try await look()
            if let collection = vaultCollections.first(where: { $0.name == name }) { return collection }
        }
        throw .noSuchObject
    }

    private func set(_ name: String, to value: BusValue, of object: Object) async throws(BusFault) {
        switch (object, name) {
        case (.collection(let collection), "Label"):
            let label = try label(value) ?? ""
            let store = try await openStore(of: collection)
            let isDone = try await use(store) { (store, deadline) async throws(StoreError) in
                try await store.setLabel(label, ofCollection: collection, deadline: deadline)
            }
            guard isDone else { throw .noSuchObject }
            let path = KeyringPath.collection(.name(collection)).text
            afterReply.append {
                self.announceProperties([("Label", value)], of: .collection, path)
                self.emit("CollectionChanged", path)
            }
        case (.item(let collection, let id), "Label"):
            let label = try label(value)
            try await update(id, in: collection, label: label, attributes: nil)
        case (.item(let collection, let id), "Attributes"):
            let attributes = try attributes(value)
            try await update(id, in: collection, label: nil, attributes: attributes)
        default: throw .unknownProperty
        }
    }

    private func update(
        _ id: ItemID, in name: String, label: String?, attributes: ItemAttributes?
    ) async throws(BusFault) {
        let store = try await openStore(of: name)
        guard try await item(id, in: name, store) != nil else { throw .noSuchObject }
        let changed = try await use(store) { (store, deadline) async throws(StoreError) in
            try await store.update(id, label: label, attributes: attributes, deadline: deadline)
        }
        guard let changed else { throw .noSuchObject }
        guard changed.id == id else {
            // The item became a credential, or ceased to be one. For a client it is another item.
            await announceDeletion(id, in: name)
            await announceCreation(changed)
            return
        }
        afterReply.append { self.announceChange(changed) }
    }

    static func moment(_ time: UnixTime) -> BusValue { .unsigned(UInt64(max(0, time.seconds))) }

    func collectionPaths() -> BusValue {
        .paths(collectionNames().map { KeyringPath.collection(.name($0)).text })
    }

    func itemPaths(_ items: [ItemID], in name: String) -> BusValue {
        .paths(items.map { KeyringPath.item(.name(name), $0).text })
    }
}

extension BusFault {
    static let noSession = BusFault(.noSession, "the session doesn't belong to this connection")
    static let noSuchObject = BusFault(.noSuchObject, "unknown object")
    static let unknownObject = BusFault(.unknownObject, "unknown object")
    static let unknownMethod = BusFault(.unknownMethod, "unknown method")
    static let unknownProperty = BusFault(.unknownProperty, "unknown property")
    static let collectionIsLocked = BusFault(.isLocked, "the collection is locked")
    static let unreadResponses = BusFault(.limitsExceeded, "this connection doesn't read its responses")
    static let manyUnreadResponses = BusFault(.limitsExceeded, "too many responses on this bus are unread")
    static let tooManyCalls = BusFault(.limitsExceeded, "too many calls from this connection are waiting")

    static func invalid(_ text: StaticString) -> BusFault { BusFault(.invalidArguments, text.description) }

    /// The D-Bus error for a store's error.
    ///
    /// - Parameter words: the text of an error and its hint in this program.
    package init(_ error: StoreError, words: (StoreError) -> String) {
        let name: StaticString =
            switch error.code {
            // The remedy for each is to unlock, and clients only do that on this error name.
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
