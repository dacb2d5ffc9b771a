package import LatchkeyCredentials
package import LatchkeyLog

/// One way to open a vault: the root key, encrypted for a key pair from a passphrase, a key file, systemd or a keyring.
///
/// Record `slot/` and the ID in hexadecimal: the head in plain text, then the box (104), the encrypted pre-shared key
/// (72) and the encrypted note (120).
struct KeySlot: Sendable {
    let head: Head
    let box: SlotBox
    let sealedPreShared: [UInt8]
    let sealedNote: [UInt8]

    static let recordPrefix = "slot/"
    /// Each host of a fleet has one.
    static let maximumCount = 128
    private static let preSharedByteCount = 32
    fileprivate static let noteByteCount = 80

    /// The part in plain text, which is associated data of the others: layout (1), kind (1), id (16), passes (4),
    /// memory in bytes (8), salt (16), public key (32); for a systemd credential its name with its length (1) before
    /// it.
    struct Head: Sendable {
        let kind: KeySlotKind
        let id: [UInt8]
        /// For passphrases.
        let cost: PassphraseCost?
        let salt: [UInt8]
        let publicKey: [UInt8]
        let systemCredential: SystemCredentialName?
    }

    var kind: KeySlotKind { head.kind }
    var cost: PassphraseCost? { head.cost }
    var recordName: String { Self.recordName(head.id) }

    static func recordName(_ id: [UInt8]) -> String { recordPrefix + Hexadecimal.encode(id) }

    // MARK: - The record

    /// Reads a slot; `nil` for one of a kind or layout that is unknown here. Throws `corrupted` for nonsense.
    static func decode(_ record: NamedRecord) throws(StoreError) -> KeySlot? {
        var reader = ByteReader(record.content)
        guard let head = try Head.decode(&reader) else { return nil }
        guard let box = SlotBox(&reader),
            let preShared = reader.take(preSharedByteCount + Sealing.overheadByteCount),
            let note = reader.take(noteByteCount + Sealing.overheadByteCount), reader.isAtEnd
        else { throw damaged }
        let slot = KeySlot(head: head, box: box, sealedPreShared: preShared, sealedNote: note)
        guard slot.recordName == record.name else { throw damaged }
        return slot
    }

    func encode() -> NamedRecord {
        NamedRecord(name: recordName, content: head.bytes + box.bytes + sealedPreShared + sealedNote)
    }

    // MARK: - Sealing

    static func seal(
        _ head: Head, preShared: borrowing Secret<SlotPreSharedKey>, note: [UInt8], _ keys: VaultKeys
    ) throws(StoreError) -> KeySlot {
        let box = try SlotBox(keys.root, to: head, preShared: preShared, vault: keys.vault)
        let sealedPreShared = try preShared.withExposedBytes { (bytes) throws(StoreError) in
            try Sealing.seal(
                bytes, associatedData: associatedData("pre-shared key", keys.vault, head), key: keys.preShared)
        }
        let sealedNote = try Sealing.seal(
            note.span, associatedData: associatedData("note", keys.vault, head), key: keys.note)
        return KeySlot(head: head, box: box, sealedPreShared: sealedPreShared, sealedNote: sealedNote)
    }

    /// The same slot in a vault that is rekeyed. Its own secret isn't needed.
    func resealed(from old: VaultKeys, to new: VaultKeys) throws(StoreError) -> KeySlot {
        let preShared = Secret<SlotPreSharedKey>(capacity: Self.preSharedByteCount) { out in
            let data = Self.associatedData("pre-shared key", old.vault, head)
            return Sealing.open(sealedPreShared.span, associatedData: data, key: old.preShared, into: &out)
                ? Self.preSharedByteCount : 0
        }
        guard !preShared.isEmpty else { throw Self.damaged }
        return try Self.seal(head, preShared: preShared, note: try note(old), new)
    }

    private func note(_ keys: VaultKeys) throws(StoreError) -> [UInt8] {
        let data = Self.associatedData("note", keys.vault, head)
        guard let note = Sealing.openPublic(sealedNote.span, associatedData: data, key: keys.note) else {
            throw Self.damaged
        }
        return note
    }

    func describe(_ keys: VaultKeys) throws(StoreError) -> KeySlotDescription {
        var reader = ByteReader(try note(keys))
        guard let created: Int64 = reader.integer(), let text = reader.text(length: UInt8.self, atMost: 64),
            let name = KeySlotName(text), reader.onlyPaddingIsLeft()
        else { throw Self.damaged }
        return KeySlotDescription(
            kind: kind, name: name, created: UnixTime(seconds: created), cost: cost,
            reference: KeySlotReference(vault: keys.vault, slot: head.id))
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
        guard layout == 1, kind.isKnown else { return nil }
        guard let id = reader.take(16), let passes: UInt32 = reader.integer(), let memory: UInt64 = reader.integer(),
            let salt = reader.take(Argon2id.saltByteCount), let publicKey = reader.take(X25519.keyByteCount)
        else { throw KeySlot.damaged }
        var cost: PassphraseCost?
        if kind == .passphrase {
            guard let stored = PassphraseCost(stored: memory, passes: passes) else {
                throw .vaultCorrupted("a key slot requires more memory or passes than Latchkey allows")
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
        return KeySlot.Head(
            kind: kind, id: id, cost: cost, salt: salt, publicKey: publicKey, systemCredential: name)
    }

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(kind.number)
        writer.append(id)
        writer.append(UInt32(cost?.passes ?? 0))
        writer.append(UInt64(cost?.memoryByteCount ?? 0))
        writer.append(salt)
        writer.append(publicKey)
        if let systemCredential { writer.append(systemCredential.text, length: UInt8.self) }
        return writer.bytes
    }
}

/// A new slot before its encryption. The slow work is done, but the vault may still be rekeyed.
final class NewKeySlot: Sendable {
    let head: KeySlot.Head
    let keys: SlotKeys
    let name: KeySlotName
    private let created: UnixTime

    /// - Parameter cost: for a passphrase; `nil` for `PassphraseCost.calibrated()`.
    init(
        _ source: borrowing VaultKeySource, name: KeySlotName, cost: PassphraseCost?, created: UnixTime, vault: VaultID
    ) throws(StoreError) {
        if let reference = source.reference, reference.vault != vault {
            throw StoreError(.unsupported, "the key belongs to another vault", hint: "choose a slot of this vault")
        }
        switch source.passphrase {
        case .some(let passphrase) where passphrase.isEmpty:
            throw .wrongKey("the passphrase is empty", hint: "choose a longer passphrase")
        default: break
        }
        let id = if let reference = source.reference { reference.slot } else { try Sealing.randomOctets(16) }
        let cost = source.kind == .passphrase ? cost ?? .calibrated() : nil
        let salt = try Sealing.randomOctets(Argon2id.saltByteCount)
        keys = SlotKeys(of: try source.slotSecret(cost: cost, salt: salt, vault: vault), vault: vault)
        head = KeySlot.Head(
            kind: source.kind, id: id, cost: cost, salt: salt, publicKey: keys.publicKey,
            systemCredential: source.systemCredentialName)
        self.name = name
        self.created = created
    }

    func sealed(_ vaultKeys: VaultKeys) throws(StoreError) -> KeySlot {
        var note = ByteWriter()
        note.append(created.seconds)
        note.append(name.text, length: UInt8.self)
        note.pad(to: KeySlot.noteByteCount)
        return try KeySlot.seal(head, preShared: keys.preShared, note: note.bytes, vaultKeys)
    }
}

/// The key of one slot that someone else keeps, such as the desktop's keyring: 32 random bytes.
package enum VaultSlotKey: SecretPurpose { public static var name: StaticString { "key of a vault's slot" } }

/// The permanent and unique name of a slot of a vault. Keyrings store the slot's key under this name.
package struct KeySlotReference: Sendable, Hashable, Loggable {
    let vault: VaultID
    let slot: [UInt8]

    /// The vault's id and the slot's, each 32 hexadecimal digits, with a slash in between. No secret.
    package var text: String { Hexadecimal.encode(vault.bytes) + "/" + Hexadecimal.encode(slot) }

    /// Names the first slot of a vault that will be made with it. Throws `unavailable` without random octets.
    package static func ofNewVault() throws(StoreError) -> KeySlotReference {
        KeySlotReference(vault: try .random(), slot: try Sealing.randomOctets(16))
    }

    /// Safe: random numbers from the vault's file, which has them in plain text.
    package var logMessage: LogMessage {
        "\(LoggableText(reviewed: "two ids that stand in the vault's file in clear", unredacted: text))"
    }
}

extension VaultStore {
    /// Names a slot that will be added.
    package func newSlotReference() throws(StoreError) -> KeySlotReference {
        KeySlotReference(vault: keys.vault, slot: try Sealing.randomOctets(16))
    }
}
