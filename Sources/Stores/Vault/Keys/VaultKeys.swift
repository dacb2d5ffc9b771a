internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets

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

/// The record that says what the file is, in clear: layout (1) and the vault's id (16).
enum IdentityRecord {
    static let recordName = "vault"
    static let layout: UInt8 = 2

    static func encode(_ vault: VaultID) -> [UInt8] { [layout] + vault.bytes }

    static func decode(_ record: [UInt8]?) throws(StoreError) -> VaultID {
        guard let record, let first = record.first else { throw .vaultCorrupted("it has no identity") }
        guard first == layout else {
            throw StoreError(
                .unsupported, "the vault has format \(Int(first)), and this Latchkey knows \(Int(layout))",
                hint: first > layout
                    ? "use a newer Latchkey"
                    : "use the Latchkey that made it, or make a new vault at another path")
        }
        guard record.count == 17 else { throw .vaultCorrupted("its identity has a wrong length") }
        return VaultID(bytes: Array(record[1...]))
    }
}
