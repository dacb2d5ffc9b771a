package import LatchkeyCredentials
internal import LatchkeyDBus
package import LatchkeySecrets
internal import LatchkeyLog
internal import LatchkeySystem

/// What became of an item that a keyring was given.
package enum KeyringItemOutcome: Sendable, Hashable {
    case added
    /// An item with the same attributes had the same secret already.
    case same
    /// Such an item has another secret, and was left alone.
    case differs
    case replaced
}

extension SecretServiceStore {
    /// The last elements of the paths of the items under a key, or of all (`nil`): enough to know a vault's again that is
    /// served as this keyring.
    package func itemPathElements(
        under key: CredentialKey?, deadline: Deadline
    ) async throws(StoreError) -> [String] {
        try await KeyringCollection(self).itemPathElements(key, deadline)
    }

    /// Puts an item with attributes of its own into the collection, reads it back and compares.
    ///
    /// - Parameters:
    ///   - attributes: all that programs find it by; one that has exactly these is the same item.
    ///   - onlyLooks: says what would become of it, and changes nothing.
    package func putItem<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, attributes: [String: String], label: String, isText: Bool,
        replacing: Bool, onlyLooks: Bool, deadline: Deadline
    ) async throws(StoreError) -> KeyringItemOutcome {
        let item = KeyringCollection.NewItem(attributes: attributes, label: label, isText: isText)
        return try await KeyringCollection(self).put(
            secret, item, replacing: replacing, onlyLooks: onlyLooks, deadline)
    }
}

extension KeyringCollection {
    fileprivate struct NewItem {
        let attributes: [String: String]
        let label: String
        let isText: Bool
    }

    fileprivate func itemPathElements(
        _ key: CredentialKey?, _ deadline: Deadline
    ) async throws(StoreError) -> [String] {
        let interruption = try Interruption(deadline)
        var paths: [String] = []
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            if let key {
                paths = try await search(ItemAttributes.made(for: key), session, interruption)
            } else {
                paths = try await allPaths(session, interruption)
            }
        }
        return paths.compactMap { $0.split(separator: "/").last.map(String.init) }
    }

    fileprivate func put<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ new: NewItem, replacing: Bool, onlyLooks: Bool, _ deadline: Deadline
    ) async throws(StoreError) -> KeyringItemOutcome {
        let interruption = try Interruption(deadline)
        var outcome: KeyringItemOutcome?
        try await KeyringConnection.shared.perform(interruption) { (session) async throws(KeyringFailure) in
            let present = try await item(with: new.attributes, session, interruption)
            if let present, try await holds(secret, present, session, interruption) {
                outcome = .same
            } else if present != nil, !replacing {
                outcome = .differs
            } else {
                outcome = present == nil ? .added : .replaced
                if !onlyLooks { try await write(secret, new, replacing: present, session, interruption) }
            }
        }
        guard let outcome else { throw .keyringBrokeProtocol }
        return outcome
    }

    private func write<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ new: NewItem, replacing present: KeyringItem?,
        _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) {
        let type = SecretContentType.sent(secret, as: new.isText ? .text : .binary)
        guard let form = session.codec.encode(secret, contentType: type) else {
            throw .store(.keyringSecretUnsendable)
        }
        if let present {
            try await replace(present, form, new.label, session, interruption)
        } else {
            try await create(new.attributes.map { ($0, $1) }, form, new.label, session, interruption)
        }
        guard let written = try await item(with: new.attributes, session, interruption),
            try await holds(secret, written, session, interruption)
        else {
            throw .store(
                StoreError(
                    .corrupted, "the keyring does not give back what it was given",
                    hint: "nothing was deleted; \(Recovery.diagnose)"))
        }
    }

    /// The item that has these attributes and no others, but for the schema that gnome-keyring gives what has none.
    private func item(
        with attributes: [String: String], _ session: KeyringSession, _ interruption: Interruption
    ) async throws(KeyringFailure) -> KeyringItem? {
        let found = try await allItems(attributes.map { ($0, $1) }, session, interruption)
        return found.filter { item in
            var others = item.attributes
            if attributes["xdg:schema"] == nil { others["xdg:schema"] = nil }
            return others == attributes
        }.min { $0.precedes($1) }
    }

    private func holds<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, _ item: KeyringItem, _ session: KeyringSession,
        _ interruption: Interruption
    ) async throws(KeyringFailure) -> Bool {
        let pending = startSecret(at: item.path, session, interruption)
        guard let held = try await self.secret(pending, of: item, as: Purpose.self, session, interruption) else {
            return false
        }
        return held.secret.matches(secret)
    }
}
