internal import LatchkeyCredentials
internal import LatchkeyDBus
internal import LatchkeySecrets

/// org.freedesktop.Secret.Service.
extension Keyring {
    // MARK: - Sessions

    func openSession(_ call: BusCall) throws(BusFault) -> BusValue {
        let (algorithm, input) = (call[0].text, call[1].unboxed)
        guard sessions.count < Self.maximumTotalSessionCount,
            sessions.values.count(where: { $0.client == sender }) < Self.maximumSessionCount
        else { throw BusFault(.limitsExceeded, "there are too many sessions") }
        let path = KeyringPath.session("s\(nextNumber())").text
        switch algorithm {
        case ClientSession.Algorithm.plain:
            guard input.is("s") else { throw .invalid("a plain session takes a string") }
            sessions[path] = ClientSession(plainAt: path, of: sender)
            return .tuple([.boxed(.string("")), .path(path)])
        case ClientSession.Algorithm.encrypted where configuration.offersEncryption:
            guard input.is("ay") else { throw .invalid("an encrypted session takes a public value") }
            guard input.count <= 4096 else { throw .invalid("the public value is too long") }
            let (session, publicValue) = try ClientSession.agreeing(on: input.publicBytes, at: path, of: sender)
            sessions[path] = session
            return .tuple([.boxed(.bytes(publicValue)), .path(path)])
        default: throw BusFault(.notSupported, "there is no such algorithm")
        }
    }

    func close(_ session: ClientSession, _: BusCall) -> BusValue {
        sessions[session.path] = nil
        return .none
    }

    // MARK: - Items

    func searchItems(_ call: BusCall) async throws(BusFault) -> BusValue {
        let attributes = try attributes(call[0])
        let vault = try await openVault()
        let search = { (store: ServedItems, deadline: Deadline) async throws(StoreError) -> [Item] in
            try await store.search(attributes, in: nil, deadline: deadline)
        }
        var found = try await use(vault, search)
        if isInMemory(Self.sessionCollection) { found += try await use(sessionItems, search) }
        let unlocked = found.filter { !isLocked($0.collection) }
        let locked = found.filter { isLocked($0.collection) }
        return .tuple([.paths(unlocked.map { KeyringPath.item($0) }), .paths(locked.map { KeyringPath.item($0) })])
    }

    // MARK: - Collections

    func readAlias(_ call: BusCall) async throws(BusFault) -> BusValue {
        let alias = call[0].text
        if vault == nil, collection(alias: alias) == nil { _ = try await openVault() }
        return .tuple([.path(collection(alias: alias).map { KeyringPath.collection(.name($0)).text } ?? "/")])
    }

    func setAlias(_ call: BusCall) async throws(BusFault) -> BusValue {
        let (alias, path) = (call[0].text, call[1].text)
        guard ObjectPathElement.isValid(alias) else { throw .invalid("an alias has letters, digits and _ alone") }
        var target: String?
        if path != "/" {
            guard case .collection(let name) = KeyringPath(path), let name = try await collection(name) else {
                throw .noSuchObject
            }
            target = name
        }
        if let target, isInMemory(target) {
            if alias == Self.sessionCollection { return .none }
            throw BusFault(.notSupported, "what is in memory alone can't stand for another collection")
        }
        let vault = try await openVault()
        let isDone = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.setAlias(alias, to: target, deadline: deadline)
        }
        guard isDone else { throw .noSuchObject }
        try await look()
        return .none
    }

    func createCollection(_ call: BusCall) async throws(BusFault) -> BusValue {
        let alias = call[1].text
        let label = try label(call[0].property("org.freedesktop.Secret.Collection.Label", "s"))
        guard alias.isEmpty || ObjectPathElement.isValid(alias) else {
            throw .invalid("an alias has letters, digits and _ alone")
        }
        let vault = try await openVault()
        // libsecret and Chromium make the default collection when they find none: there is one for each alias.
        if !alias.isEmpty, let name = collection(alias: alias) {
            return .tuple([.path(KeyringPath.collection(.name(name)).text), .path("/")])
        }
        let made = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.createCollection(
                label: label, alias: alias.isEmpty ? nil : alias, deadline: deadline)
        }
        try await look()
        lockedNames.remove(made.name)
        let path = KeyringPath.collection(.name(made.name)).text
        emit("CollectionCreated", path)
        announceCollections()
        return .tuple([.path(path), .path("/")])
    }

    /// Looks at the vault's collections anew.
    func look() async throws(BusFault) {
        guard let vault else { return }
        vaultCollections = try await use(vault) { (store, deadline) async throws(StoreError) in
            try await store.collections(deadline: deadline)
        }
    }
}
