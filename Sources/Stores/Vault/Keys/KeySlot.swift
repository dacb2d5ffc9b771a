internal import Credentials
internal import RedactedLog
internal import Secrets
internal import Sodium

/// The key that wraps the root key in one slot.
enum WrappingKey: SecretPurpose { static var name: StaticString { "vault wrapping key" } }

/// One way to open a vault: the root key, sealed under a key that comes from a passphrase, a key file, systemd or a
/// keyring.
///
/// Record `slot/` and the id in hexadecimal. In clear the head; then the wrapped root key (72) and the sealed note
/// (120).
struct KeySlot: Sendable {
    let head: Head
    let wrapped: [UInt8]
    let sealedNote: [UInt8]

    static let recordPrefix = "slot/"
    static let maximumCount = 16
    private static let wrappedByteCount = 32 + Sealing.overheadByteCount
    private static let noteByteCount = 80

    /// The part in clear, which is associated data of the others: layout (1), kind (1), id (16), passes (4), memory in
    /// bytes (8), salt (16); for a systemd credential its name with its length (1) before it.
    struct Head: Sendable {
        let kind: KeySlotKind
        let id: [UInt8]
        /// For passphrases.
        let cost: PassphraseCost?
        let salt: [UInt8]
        let systemCredential: SystemCredentialName?
    }

    var kind: KeySlotKind { head.kind }
    var cost: PassphraseCost? { head.cost }
    var recordName: String { Self.recordPrefix + Hexadecimal.encode(head.id) }

    // MARK: - The record

    /// Reads a slot; `nil` for one of a kind or layout that is unknown here. Throws `corrupted` for nonsense.
    static func decode(_ record: NamedRecord) throws(StoreError) -> KeySlot? {
        var reader = ByteReader(record.content)
        guard let head = try Head.decode(&reader) else { return nil }
        guard let wrapped = reader.take(wrappedByteCount),
            let note = reader.take(noteByteCount + Sealing.overheadByteCount), reader.isAtEnd
        else { throw damaged }
        let slot = KeySlot(head: head, wrapped: wrapped, sealedNote: note)
        guard slot.recordName == record.name else { throw damaged }
        return slot
    }

    func encode() -> NamedRecord {
        NamedRecord(name: recordName, content: head.bytes + wrapped + sealedNote)
    }

    // MARK: - Wrapping

    /// Makes a slot for a vault whose root key is known.
    static func make(
        _ source: borrowing VaultKeySource, name: KeySlotName, cost: PassphraseCost?, created: UnixTime, root: RootKeys
    ) throws(StoreError) -> KeySlot {
        if let reference = source.reference, reference.vault != root.vault {
            throw StoreError(.unsupported, "the key is kept for another vault", hint: "name a slot of this vault")
        }
        let id = if let reference = source.reference { reference.slot } else { try Sealing.randomOctets(16) }
        let head = Head(
            kind: source.kind, id: id, cost: source.kind == .passphrase ? cost ?? .calibrated() : nil,
            salt: try Sealing.randomOctets(Argon2id.saltByteCount), systemCredential: source.systemCredentialName)
        let wrapping = try source.wrappingKey(cost: head.cost, salt: head.salt, vault: root.vault)
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
        return KeySlot(head: head, wrapped: wrapped, sealedNote: sealedNote)
    }

    /// Returns the root key, or `nil` when the source isn't this slot's.
    func unwrap(_ source: borrowing VaultKeySource, vault: VaultID) throws(StoreError) -> Secret<RootKey>? {
        let wrapping = try source.wrappingKey(cost: head.cost, salt: head.salt, vault: vault)
        let key = Sealing.subkey("wrap", of: wrapping, vault: vault)
        let data = Self.associatedData("wrap", vault, head)
        let root = Secret<RootKey>(capacity: 32) { out in
            Sealing.open(wrapped.span, associatedData: data, key: key, into: &out) ? 32 : 0
        }
        if root.isEmpty { return nil }
        return root
    }

    func describe(_ root: RootKeys) throws(StoreError) -> KeySlotDescription {
        let data = Self.associatedData("note", root.vault, head)
        guard let note = Sealing.openPublic(sealedNote.span, associatedData: data, key: root.note) else {
            throw Self.damaged
        }
        var reader = ByteReader(note)
        guard let created: Int64 = reader.integer(), let text = reader.text(length: UInt8.self, atMost: 64),
            let name = KeySlotName(text), reader.onlyPaddingIsLeft()
        else { throw Self.damaged }
        return KeySlotDescription(
            kind: kind, name: name, created: UnixTime(seconds: created), cost: cost,
            reference: KeySlotReference(vault: root.vault, slot: head.id))
    }

    static func associatedData(_ use: StaticString, _ vault: VaultID, _ head: Head) -> [UInt8] {
        Array("slot \(use)".utf8) + vault.bytes + head.bytes
    }

    fileprivate static var damaged: StoreError { .vaultCorrupted("a key slot can't be read") }
}

extension KeySlot.Head {
    fileprivate static func decode(_ reader: inout ByteReader) throws(StoreError) -> KeySlot.Head? {
        guard let layout: UInt8 = reader.integer(), let number: UInt8 = reader.integer() else { throw KeySlot.damaged }
        let kind = KeySlotKind(number: number)
        guard layout == 1, KeySlotKind.known.contains(kind) else { return nil }
        guard let id = reader.take(16), let passes: UInt32 = reader.integer(), let memory: UInt64 = reader.integer(),
            let salt = reader.take(Argon2id.saltByteCount)
        else { throw KeySlot.damaged }
        var cost: PassphraseCost?
        if kind == .passphrase {
            guard let stored = PassphraseCost(stored: memory, passes: passes) else {
                throw .vaultCorrupted("a key slot asks for more work than is allowed")
            }
            cost = stored
        } else if passes != 0 || memory != 0 {
            throw KeySlot.damaged
        }
        var name: SystemCredentialName?
        if kind == .systemCredential {
            // The name becomes a part of a path.
            guard let text = reader.text(length: UInt8.self, atMost: 255), let valid = SystemCredentialName(text)
            else { throw KeySlot.damaged }
            name = valid
        }
        return KeySlot.Head(kind: kind, id: id, cost: cost, salt: salt, systemCredential: name)
    }

    fileprivate var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(kind.number)
        writer.append(id)
        writer.append(UInt32(cost?.passes ?? 0))
        writer.append(UInt64(cost?.memoryByteCount ?? 0))
        writer.append(salt)
        if let systemCredential { writer.append(systemCredential.text, length: UInt8.self) }
        return writer.bytes
    }
}
