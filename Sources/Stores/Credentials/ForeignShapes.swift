package import LatchkeySecrets

/// The credentials that match items of programs which don't use `service` and `username`. A store leaves such items
/// unchanged; helpers find them, and an import copies them.
package enum ForeignShapes {
    /// Which credential an item would be here, and how its program wrote the secret.
    package struct Reading: Sendable, Hashable {
        package let key: CredentialKey
        /// Whether the password ends at the first line break: git 2.41 keeps more about it in the lines below.
        package var isFirstLine = false

        /// The credential's own part of what the item holds.
        package func secret(in content: consuming Secret<Password>) -> Secret<Password> {
            guard isFirstLine else { return content }
            let end: Int? = content.withExposedBytes { bytes in bytes.indices.first { bytes[$0] == 0x0A } }
            guard let end else { return content }
            return content.withExposedBytes { bytes in Secret<Password>(copying: bytes.extracting(0..<end)) }
        }
    }

    /// Returns `nil` for an item of a shape that isn't known.
    package static func reading(of attributes: ItemAttributes, label: String) -> Reading? {
        let schema = attributes["xdg:schema"]
        if attributes["docker_cli"] == "1", let server = attributes["server"], let user = attributes["username"] {
            return reading("docker:\(server)", user)
        }
        if schema == "org.rust-lang.cargo.registry", let url = attributes["url"] {
            // A registry has one token, whatever its owner.
            return reading("cargo:\(url)", "token")
        }
        if let host = attributes["server"], let scheme = attributes["protocol"], let user = attributes["user"],
            schema == "org.git.Password" || label.hasPrefix("Git: ")
        {
            let port = attributes["port"].map { ":\($0)" } ?? ""
            let path = attributes["object"].map { "/\($0)" } ?? ""
            return reading("git:\(scheme)://\(host)\(port)\(path)", user, isFirstLine: true)
        }
        // Git Credential Manager and keytar (GitHub Desktop and others): their attributes are the same.
        if let service = attributes["service"], let account = attributes["account"],
            attributes.all.allSatisfy({ ["service", "account", "xdg:schema", "application"].contains($0.name) })
        {
            return reading(service, account)
        }
        return nil
    }

    private static func reading(_ service: String, _ account: String, isFirstLine: Bool = false) -> Reading? {
        guard let key = try? CredentialKey(service: service, account: account) else { return nil }
        return Reading(key: key, isFirstLine: isFirstLine)
    }
}

extension ItemStore {
    /// Saves in `target` the items that programs store here without a `service` and a `username`: those of git and Git
    /// Credential Manager under the service `git:URL`, docker's under `docker:URL`, cargo's under `cargo:URL` with the
    /// account `token`, and items with `service` and `account` under these. The items themselves don't change.
    ///
    /// If several items match one key, the import takes the item that a read returns. The most recently changed item
    /// comes last. A credential in `target` under the key is replaced. Throws what either store throws; credentials
    /// saved before that stay.
    ///
    /// - Parameter attributes: only items with these attributes, among others.
    /// - Returns: the number of items that neither match such a shape nor belong to this store, and the keys of items with
    ///   another secret than the one that was copied, if `compares`.
    @discardableResult
    package func copyForeign(
        to target: any CredentialStore, having attributes: ItemAttributes = ItemAttributes(), compares: Bool = false,
        deadline: Deadline
    ) async throws(StoreError) -> (unknownCount: Int, differing: [CredentialKey]) {
        let (found, unknownCount) = try await foreign(attributes, deadline)
        var (keys, differing): (Set<CredentialKey>, [CredentialKey]) = ([], [])
        let sorted = found.sorted { $0.item.precedes($1.item) }.map { ($0, keys.insert($0.reading.key).inserted) }
        for ((item, reading), _) in sorted.filter(\.1).reversed() {
            // Skips an item that was deleted in the meantime.
            guard let record = try await read(item.id, as: Password.self, deadline: deadline) else { continue }
            let type = SecretContentType(of: record.secret, named: record.item.contentType)
            try await target.save(
                reading.secret(in: record.takeSecret()), for: reading.key,
                options: SaveOptions(label: item.label, contentType: type), deadline: deadline)
        }
        for ((item, reading), isFirst) in sorted where !isFirst && compares {
            guard let record = try await read(item.id, as: Password.self, deadline: deadline),
                let copied = try await target.read(reading.key, as: Password.self, deadline: deadline)
            else { continue }
            if !copied.secret.matches(reading.secret(in: record.takeSecret())) { differing.append(reading.key) }
        }
        return (unknownCount, differing)
    }

    /// Deletes what other programs keep so, and returns whether there was any.
    ///
    /// - Parameter isMeant: whether to delete the credential that `copyForeign` would save under this key.
    package func deleteForeign(
        having attributes: ItemAttributes, deadline: Deadline,
        where isMeant: @Sendable (CredentialKey, borrowing Secret<Password>) -> Bool
    ) async throws(StoreError) -> Bool {
        var isDeleted = false
        for (item, reading) in try await foreign(attributes, deadline).found {
            guard let record = try await read(item.id, as: Password.self, deadline: deadline),
                isMeant(reading.key, reading.secret(in: record.takeSecret()))
            else { continue }
            if try await delete(item.id, condition: .none, deadline: deadline) != nil { isDeleted = true }
        }
        return isDeleted
    }

    /// The items that aren't this store's own and whose shape is known, and how many are of no known one.
    private func foreign(
        _ attributes: ItemAttributes, _ deadline: Deadline
    ) async throws(StoreError) -> (found: [(item: Item, reading: ForeignShapes.Reading)], unknownCount: Int) {
        let items = try await search(attributes, in: nil, deadline: deadline).filter { $0.key == nil }
        let found = items.compactMap { item in
            ForeignShapes.reading(of: item.attributes, label: item.label).map { (item: item, reading: $0) }
        }
        return (found, items.count - found.count)
    }
}
