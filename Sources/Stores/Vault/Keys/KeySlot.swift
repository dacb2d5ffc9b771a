internal import Credentials
internal import RedactedLog
internal import Secrets
internal import Sodium

/// The key that wraps the root key in one slot.
enum WrappingKey: SecretPurpose { static var name: StaticString { "vault wrapping key" } }

/// One way to open a vault: the root key, sealed under a key that comes from a passphrase or a key file.
///
/// Record `slot/` and the id in hexadecimal. In clear: layout (1), kind (1), id (16), passes (4), memory in bytes (8),
/// salt (16); then the wrapped root key (72) and the sealed note (120). The clear part is associated data of both.
struct KeySlot: Sendable {
    let kind: KeySlotKind
    let id: [UInt8]
    /// For passphrases.
    let cost: PassphraseCost?
    let salt: [UInt8]
    let wrapped: [UInt8]
    let sealedNote: [UInt8]

    static let recordPrefix = "slot/"
    static let maximumCount = 16
    private static let wrappedByteCount = 32 + Sealing.overheadByteCount
    private static let noteByteCount = 80

    var recordName: String { Self.recordPrefix + Hexadecimal.encode(id) }

    // MARK: - The record

    /// Reads a slot; `nil` for one of a kind or layout that is unknown here. Throws `corrupted` for nonsense.
    static func decode(_ record: NamedRecord) throws(StoreError) -> KeySlot? {
        var reader = ByteReader(record.content)
        guard let layout: UInt8 = reader.integer(), let number: UInt8 = reader.integer() else { throw damaged }
        let kind = KeySlotKind(number: number)
        guard layout == 1, kind == .passphrase || kind == .keyFile else { return nil }
        guard let id = reader.take(16), let passes: UInt32 = reader.integer(), let memory: UInt64 = reader.integer(),
            let salt = reader.take(Argon2id.saltByteCount), let wrapped = reader.take(wrappedByteCount),
            let note = reader.take(noteByteCount + Sealing.overheadByteCount), reader.isAtEnd
        else { throw damaged }
        var cost: PassphraseCost?
        if kind == .passphrase {
            guard let stored = PassphraseCost(stored: memory, passes: passes) else {
                throw .vaultCorrupted("a key slot asks for more work than is allowed")
            }
            cost = stored
        } else if passes != 0 || memory != 0 {
            throw damaged
        }
        let slot = KeySlot(kind: kind, id: id, cost: cost, salt: salt, wrapped: wrapped, sealedNote: note)
        guard slot.recordName == record.name else { throw damaged }
        return slot
    }

    func encode() -> NamedRecord {
        NamedRecord(name: recordName, content: Self.head(kind, id, cost, salt) + wrapped + sealedNote)
    }

    private static func head(_ kind: KeySlotKind, _ id: [UInt8], _ cost: PassphraseCost?, _ salt: [UInt8]) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(kind.number)
        writer.append(id)
        writer.append(UInt32(cost?.passes ?? 0))
        writer.append(UInt64(cost?.memoryByteCount ?? 0))
        writer.append(salt)
        return writer.bytes
    }

    // MARK: - Wrapping

    /// Makes a slot for a vault whose root key is known.
    static func make(
        _ source: borrowing VaultKeySource, name: KeySlotName, cost: PassphraseCost, created: UnixTime, root: RootKeys
    ) throws(StoreError) -> KeySlot {
        let kind = source.kind
        let id = try Sealing.randomOctets(16)
        let salt = try Sealing.randomOctets(Argon2id.saltByteCount)
        let cost = kind == .passphrase ? cost : nil
        let head = head(kind, id, cost, salt)
        let wrapping = try source.wrappingKey(cost: cost, salt: salt, vault: root.vault)
        let key = Sealing.subkey("wrap", of: wrapping, vault: root.vault)
        let wrapped = try root.root.withExposedBytes { (bytes) throws(StoreError) in
            try Sealing.seal(bytes, associatedData: Self.associatedData("wrap", root.vault, head), key: key)
        }
        var note = ByteWriter()
        note.append(created.seconds)
        note.append(name.text, length: UInt8.self)
        note.pad(to: noteByteCount)
        let sealedNote = try Sealing.seal(
            note.bytes.span, associatedData: Self.associatedData("note", root.vault, head), key: root.note)
        return KeySlot(kind: kind, id: id, cost: cost, salt: salt, wrapped: wrapped, sealedNote: sealedNote)
    }

    /// Returns the root key, or `nil` when the source isn't this slot's.
    func unwrap(_ source: borrowing VaultKeySource, vault: VaultID) throws(StoreError) -> Secret<RootKey>? {
        let wrapping = try source.wrappingKey(cost: cost, salt: salt, vault: vault)
        let key = Sealing.subkey("wrap", of: wrapping, vault: vault)
        let data = Self.associatedData("wrap", vault, Self.head(kind, id, cost, salt))
        let root = Secret<RootKey>(capacity: 32) { out in
            Sealing.open(wrapped.span, associatedData: data, key: key, into: &out) ? 32 : 0
        }
        if root.isEmpty { return nil }
        return root
    }

    func describe(_ root: RootKeys) throws(StoreError) -> KeySlotDescription {
        let data = Self.associatedData("note", root.vault, Self.head(kind, id, cost, salt))
        guard let note = Sealing.openPublic(sealedNote.span, associatedData: data, key: root.note) else {
            throw Self.damaged
        }
        var reader = ByteReader(note)
        guard let created: Int64 = reader.integer(), let text = reader.text(length: UInt8.self, atMost: 64),
            let name = KeySlotName(text), reader.onlyPaddingIsLeft()
        else { throw Self.damaged }
        return KeySlotDescription(kind: kind, name: name, created: UnixTime(seconds: created), cost: cost, id: id)
    }

    private static func associatedData(_ use: StaticString, _ vault: VaultID, _ head: [UInt8]) -> [UInt8] {
        Array("slot \(use)".utf8) + vault.bytes + head
    }

    private static var damaged: StoreError { .vaultCorrupted("a key slot can't be read") }
}

extension VaultKeySource {
    /// Derives the wrapping key: Argon2id for passphrases, keyed BLAKE2b of the salt for key files.
    fileprivate borrowing func wrappingKey(
        cost: PassphraseCost?, salt: [UInt8], vault: VaultID
    ) throws(StoreError) -> Secret<WrappingKey> {
        switch passphrase {
        case .some(let passphrase):
            guard let cost else { throw .vaultCorrupted("a passphrase slot has no costs") }
            var derived = false
            let key = Secret<WrappingKey>(byteCount: 32) { out in
                derived = passphrase.withExposedBytes {
                    Argon2id.derive(
                        passphrase: $0, salt: salt.span, passes: cost.passes, memoryByteCount: cost.memoryByteCount,
                        into: &out)
                }
            }
            guard derived else {
                throw StoreError(
                    .unavailable, "there is no memory to try the passphrase: it takes \(cost.memoryByteCount) bytes",
                    hint: "free some memory, or use a key file")
            }
            return key
        case .none:
            let file = try VaultKeyFile.read(keyFilePath ?? "")
            let message = Array("latchkey vault v1 key file".utf8) + vault.bytes + salt
            return Secret(byteCount: 32) { out in
                file.withExposedBytes { KeyedHash.digest(message.span, key: $0, into: &out) }
            }
        }
    }
}
