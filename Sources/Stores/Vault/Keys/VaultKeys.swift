internal import Credentials
internal import RedactedLog
internal import Secrets
internal import Sodium

/// The key that the slots wrap. It seals the data keys, the manifest and the slots' names.
enum RootKey: SecretPurpose { static var name: StaticString { "vault root key" } }

/// The key under which rows are sealed; there are two while they are resealed.
enum DataKey: SecretPurpose { static var name: StaticString { "vault data key" } }

/// The subkeys of a vault's root key.
final class RootKeys: Sendable {
    let vault: VaultID
    /// Seals the data keys.
    let keys: Secret<VaultSubkey>
    let manifest: Secret<VaultSubkey>
    /// Hashes rows and records for the manifest.
    let digest: Secret<VaultSubkey>
    /// Seals the slots' names.
    let note: Secret<VaultSubkey>
    /// Kept to be wrapped into new slots.
    let root: Secret<RootKey>

    init(_ root: consuming Secret<RootKey>, vault: VaultID) {
        keys = Sealing.subkey("data keys", of: root, vault: vault)
        manifest = Sealing.subkey("manifest", of: root, vault: vault)
        digest = Sealing.subkey("digest", of: root, vault: vault)
        note = Sealing.subkey("slot note", of: root, vault: vault)
        self.vault = vault
        self.root = root
    }
}

/// The subkeys of one data key.
final class DataKeys: Sendable {
    let vault: VaultID
    /// Data keys are counted from 1; rotation adds the next.
    let number: UInt32
    let data: Secret<DataKey>
    let lookup: Secret<VaultSubkey>
    let metadata: Secret<VaultSubkey>
    let secret: Secret<VaultSubkey>

    init(_ data: consuming Secret<DataKey>, number: UInt32, vault: VaultID) {
        lookup = Sealing.subkey("look-up", of: data, vault: vault)
        metadata = Sealing.subkey("metadata", of: data, vault: vault)
        secret = Sealing.subkey("secret", of: data, vault: vault)
        self.vault = vault
        self.number = number
        self.data = data
    }
}

/// The record that holds the data keys, sealed under the root key.
///
/// In clear: layout (1), count (1 or 2), then for each the number (4) and the key (32), the current one first; zeros up
/// to two.
enum DataKeyRecord {
    static let recordName = "keys"
    private static let byteCount = 2 + 2 * 36
    private static let entryByteCount = 36

    static func seal(_ keys: [DataKeys], root: RootKeys) throws(StoreError) -> [UInt8] {
        precondition((1...2).contains(keys.count))
        let plaintext = Secret<DataKey>(byteCount: byteCount) { out in
            out[0] = 1
            out[1] = UInt8(keys.count)
            for (index, key) in keys.enumerated() {
                let start = 2 + index * entryByteCount
                for byte in 0..<4 { out[start + byte] = UInt8(truncatingIfNeeded: key.number >> UInt32(byte * 8)) }
                key.data.withExposedBytes { data in for byte in 0..<32 { out[start + 4 + byte] = data[byte] } }
            }
        }
        return try plaintext.withExposedBytes { (bytes) throws(StoreError) in
            try Sealing.seal(bytes, associatedData: associatedData(root.vault), key: root.keys)
        }
    }

    static func open(_ record: [UInt8], root: RootKeys) throws(StoreError) -> [DataKeys] {
        guard record.count == byteCount + Sealing.overheadByteCount else { throw damaged }
        let plaintext = Secret<DataKey>(capacity: byteCount) { out in
            Sealing.open(record.span, associatedData: associatedData(root.vault), key: root.keys, into: &out)
                ? byteCount : 0
        }
        guard plaintext.byteCount == byteCount else { throw damaged }
        return try plaintext.withExposedBytes { (bytes) throws(StoreError) in
            guard bytes[0] == 1, (1...2).contains(bytes[1]) else { throw damaged }
            let keys = (0..<Int(bytes[1])).map { index in
                let start = 2 + index * entryByteCount
                let number = (0..<4).reduce(UInt32(0)) { $0 | UInt32(bytes[start + $1]) << UInt32($1 * 8) }
                return DataKeys(
                    Secret(copying: bytes.extracting(start + 4..<start + 36)), number: number, vault: root.vault)
            }
            guard keys.count == 1 || keys[0].number > keys[1].number else { throw damaged }
            return keys
        }
    }

    static func associatedData(_ vault: VaultID) -> [UInt8] { Array("keys".utf8) + vault.bytes }

    private static var damaged: StoreError { .vaultCorrupted("its keys don't open") }
}

/// The record that says what the file is, in clear: layout (1) and the vault's id (16).
enum IdentityRecord {
    static let recordName = "vault"
    static let layout: UInt8 = 1

    static func encode(_ vault: VaultID) -> [UInt8] { [layout] + vault.bytes }

    static func decode(_ record: [UInt8]?) throws(StoreError) -> VaultID {
        guard let record, let first = record.first else { throw .vaultCorrupted("it has no identity") }
        guard first == layout else {
            throw StoreError(
                .unsupported, "the vault has format \(Int(first)), and this Latchkey knows \(Int(layout))",
                hint: "use a newer Latchkey")
        }
        guard record.count == 17 else { throw .vaultCorrupted("its identity has a wrong length") }
        return VaultID(bytes: Array(record[1...]))
    }
}
