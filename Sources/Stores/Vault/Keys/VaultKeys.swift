internal import LatchkeyCredentials
internal import LatchkeyLog

/// The key that is sealed to the slots. All that a vault seals and hashes is under a subkey of it, one for each use.
enum RootKey: SecretPurpose { static var name: StaticString { "vault root key" } }

/// A vault's root key and its subkeys, until the vault is rekeyed.
final class VaultKeys: Sendable {
    let vault: VaultID
    /// Tells these keys from those of before and after, inside this process. No secret.
    let id: [UInt8]
    /// Kept to be sealed to new slots.
    let root: Secret<RootKey>
    let manifest: Secret<VaultSubkey>
    /// Hashes items for the manifest.
    let itemHash: Secret<VaultSubkey>
    /// Hashes records for the manifest.
    let recordHash: Secret<VaultSubkey>
    /// Seals the slots' names.
    let note: Secret<VaultSubkey>
    /// Seals the slots' pre-shared keys.
    let preShared: Secret<VaultSubkey>
    /// Seals the record of former keys.
    let former: Secret<VaultSubkey>
    /// Seals what is remembered outside the file.
    let rollback: Secret<VaultSubkey>
    /// Hashes the manifest for it.
    let rollbackHash: Secret<VaultSubkey>
    let lookup: Secret<VaultSubkey>
    let metadata: Secret<VaultSubkey>
    let secret: Secret<VaultSubkey>
    /// Makes the keys of the index's lists.
    let attribute: Secret<VaultSubkey>
    /// Seals the links of the index.
    let link: Secret<VaultSubkey>
    /// Hashes them for the manifest.
    let linkHash: Secret<VaultSubkey>
    /// Seals the record of collections.
    let collections: Secret<VaultSubkey>

    init(_ root: consuming Secret<RootKey>, vault: VaultID) {
        manifest = Sealing.subkey("manifest", of: root, vault: vault)
        itemHash = Sealing.subkey("item hash", of: root, vault: vault)
        recordHash = Sealing.subkey("record hash", of: root, vault: vault)
        note = Sealing.subkey("slot note", of: root, vault: vault)
        preShared = Sealing.subkey("slot pre-shared key", of: root, vault: vault)
        former = Sealing.subkey("former keys", of: root, vault: vault)
        rollback = Sealing.subkey("rollback record", of: root, vault: vault)
        rollbackHash = Sealing.subkey("rollback hash", of: root, vault: vault)
        lookup = Sealing.subkey("look-up", of: root, vault: vault)
        metadata = Sealing.subkey("metadata", of: root, vault: vault)
        secret = Sealing.subkey("secret", of: root, vault: vault)
        attribute = Sealing.subkey("attribute", of: root, vault: vault)
        link = Sealing.subkey("link", of: root, vault: vault)
        linkHash = Sealing.subkey("link hash", of: root, vault: vault)
        collections = Sealing.subkey("collections", of: root, vault: vault)
        let name = Array("latchkey vault v1 key id".utf8) + vault.bytes
        id = root.withExposedBytes { KeyedHash.digest(name.span, key: $0, byteCount: 16) }
        self.vault = vault
        self.root = root
    }

    /// Makes new ones.
    static func random(_ vault: VaultID) throws(StoreError) -> VaultKeys {
        VaultKeys(try Sealing.randomKey(as: RootKey.self), vault: vault)
    }
}

/// The record that identifies the file, in plain text: layout (1) and the vault's ID (16).
enum IdentityRecord {
    static let recordName = "vault"
    /// The manifest of layout 3 has last saves, which earlier versions can't read.
    static func encode(_ vault: VaultID, hasLastSaves: Bool = false) -> [UInt8] {
        [hasLastSaves ? 3 : 2] + vault.bytes
    }

    static func decode(_ record: [UInt8]?) throws(StoreError) -> VaultID {
        guard let record, let first = record.first else { throw .vaultCorrupted("its identity is missing") }
        guard (2...3).contains(first) else {
            throw StoreError(
                .unsupported, "the vault has format \(Int(first)); this Latchkey supports 2 and 3",
                hint: first > 3
                    ? "use a newer Latchkey"
                    : "use the version of Latchkey that created it, or create a new vault at another path")
        }
        guard record.count == 17 else { throw .vaultCorrupted("its identity has a wrong length") }
        return VaultID(bytes: Array(record[1...]))
    }
}

// MARK: - Items

// Lookup and encryption of items under the vault's keys.

extension VaultKeys {
    static let lookupByteCount = 32

    /// The lookup value of an item: a keyed hash of its name, so that the file shows neither names nor equal services.
    func lookup(of key: CredentialKey) -> [UInt8] {
        var name = ByteWriter(capacity: 5 + key.kind.name.utf8.count + key.service.utf8.count + key.account.utf8.count)
        name.append(key.kind.name, length: UInt8.self)
        name.append(key.service, length: UInt16.self)
        name.append(key.account, length: UInt16.self)
        return lookup.withExposedBytes { KeyedHash.digest(name.bytes.span, key: $0) }
    }

    /// A credential's key begins with the length of its kind, which is never zero.
    func lookup(of name: Row.Name) -> [UInt8] {
        switch name {
        case .key(let key): lookup(of: key)
        case .attributes(_, _, let id):
            lookup.withExposedBytes { KeyedHash.digest(([0] + id.bytes).span, key: $0) }
        }
    }

    /// Sorts by the positions in the table, so that a transaction visits each page of the table once.
    func inOrderOfPlaces<Element>(_ elements: [Element], _ lookup: (Element) -> [UInt8]) -> [Element] {
        elements.map { (place: ItemPlaces(of: lookup($0)).first, element: $0) }
            .sorted { $0.place < $1.place }.map(\.element)
    }

    // MARK: - Metadata

    func seal(_ row: Row, at lookup: [UInt8]) throws(StoreError) -> [UInt8] {
        let plaintext = row.encode()
        return try Sealing.seal(plaintext.span, associatedData: metadataContext(lookup), key: self.metadata)
    }

    /// Opens an item's metadata, or returns `nil` when it isn't sealed under this key at this place.
    func openMetadata(_ sealed: Span<UInt8>, at lookup: [UInt8]) -> [UInt8]? {
        guard sealed.count <= SealedSize.maximumMetadataByteCount + Sealing.overheadByteCount else { return nil }
        return Sealing.openPublic(sealed, associatedData: metadataContext(lookup), key: metadata)
    }

    /// Decrypts a row at any position; `nil` if it wasn't encrypted for its lookup value.
    func open(_ heading: ItemHeading) -> OpenedRow? {
        guard let bytes = openMetadata(heading.metadata.span, at: heading.lookup),
            let row = Row.decode(bytes), lookup(of: row.name) == heading.lookup
        else { return nil }
        return OpenedRow(heading: heading, row: row)
    }

    private func metadataContext(_ lookup: [UInt8]) -> [UInt8] { context(0x6D, lookup, []) }

    // MARK: - The secret

    func seal<Purpose: SecretPurpose>(
        _ secret: borrowing Secret<Purpose>, version: CredentialVersion, at lookup: [UInt8]
    ) throws(StoreError) -> [UInt8] {
        let padded = Secret<Purpose>(byteCount: SealedSize.bucket(secret.byteCount)) { out in
            secret.withExposedBytes { out.update(from: $0) }
        }
        return try padded.withExposedBytes { (bytes) throws(StoreError) in
            try Sealing.seal(bytes, associatedData: secretContext(lookup, version), key: self.secret)
        }
    }

    /// Opens an item's secret; throws `corrupted` when it doesn't belong to this place and version.
    func openSecret(
        _ sealed: Span<UInt8>, of row: Row, at lookup: [UInt8]
    ) throws(StoreError) -> Secret<StoredSecret> {
        let capacity = SealedSize.bucket(row.secretByteCount)
        guard sealed.count == capacity + Sealing.overheadByteCount else { throw .damagedItem }
        return try Secret(capacity: capacity) { (out) throws(StoreError) in
            let context = secretContext(lookup, row.version)
            guard Sealing.open(sealed, associatedData: context, key: secret, into: &out) else { throw .damagedItem }
            var padding: UInt8 = 0
            for index in row.secretByteCount..<capacity { padding |= out[index] }
            guard padding == 0 else { throw .damagedItem }
            return row.secretByteCount
        }
    }

    func secretContext(_ lookup: [UInt8], _ version: CredentialVersion) -> [UInt8] {
        context(0x73, lookup, version.bytes)
    }

    /// The associated data of a part of an item.
    private func context(_ part: UInt8, _ lookup: [UInt8], _ version: [UInt8]) -> [UInt8] {
        var context = ByteWriter(capacity: 1 + vault.bytes.count + lookup.count + version.count)
        context.append(part)
        context.append(vault.bytes)
        context.append(lookup)
        context.append(version)
        return context.bytes
    }
}

extension StoreError {
    static var damagedItem: StoreError { .vaultCorrupted("an item can't be opened") }
}
