internal import LatchkeyCredentials
internal import LatchkeyLog

/// The summary of a vault: its generation, the number of items, and hashes over all items, records and index links.
///
/// The manifest is encrypted and changes in each transaction. Reads check the row that they read; comparing all items
/// with the manifest notices rows that were deleted, replayed or duplicated behind the vault's back (`ItemCheck`).
///
/// The plain text: layout (1), generation (8), number of items (8), set hash (32), hash of the records (32), number
/// of links (8), their set hash (32), last saves (12 each).
struct Manifest: Sendable, Equatable {
    /// Counts transactions.
    var generation: UInt64 = 1
    var itemCount: UInt64 = 0
    var items = SetHash()
    var recordsDigest: [UInt8]
    /// Of the index of attributes.
    var linkCount: UInt64 = 0
    var links = SetHash()
    /// The latest save of each origin, in the order of their generations.
    private(set) var lastSaves: [LastSave] = []

    /// The last transaction of one origin: of all processes that share a rollback record.
    struct LastSave: Sendable, Equatable {
        /// Random, from the rollback record.
        let origin: UInt32
        let generation: UInt64

        static let byteCount = 12
        /// As many as a vault has slots. The oldest makes room for another origin's.
        static let maximumCount = KeySlot.maximumCount
    }

    static let recordName = "manifest"
    /// The most records a vault has beside its manifest.
    static let maximumRecordCount = 160
    /// The limits of a record, and of all together, in bytes.
    static let maximumRecordNameByteCount = 64
    static let maximumRecordByteCount = 4 << 20
    static let maximumRecordsByteCount = 16 << 20
    private static let byteCount = 121

    func encode() -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(generation)
        writer.append(itemCount)
        for limb in items.limbs { writer.append(limb) }
        writer.append(recordsDigest)
        writer.append(linkCount)
        for limb in links.limbs { writer.append(limb) }
        for save in lastSaves {
            writer.append(save.origin)
            writer.append(save.generation)
        }
        return writer.bytes
    }

    func seal(_ keys: VaultKeys) throws(StoreError) -> [UInt8] {
        try Sealing.seal(encode().span, associatedData: Self.context(keys.vault), key: keys.manifest)
    }

    static func open(_ record: [UInt8]?, _ keys: VaultKeys) throws(StoreError) -> Manifest {
        guard let record else { throw .vaultCorrupted("its manifest is missing") }
        guard record.count <= byteCount + LastSave.byteCount * LastSave.maximumCount + Sealing.overheadByteCount,
            let plaintext = Sealing.openPublic(record.span, associatedData: context(keys.vault), key: keys.manifest)
        else { throw .vaultCorrupted("its manifest doesn't open") }
        var reader = ByteReader(plaintext)
        guard reader.integer(UInt8.self) == 1, let generation: UInt64 = reader.integer(),
            let count: UInt64 = reader.integer(), let items = SetHash(from: &reader), let digest = reader.take(32),
            let linkCount: UInt64 = reader.integer(), let links = SetHash(from: &reader),
            let saves = lastSaves(from: &reader, upTo: generation)
        else { throw .vaultCorrupted("its manifest can't be read") }
        return Manifest(
            generation: generation, itemCount: count, items: items, recordsDigest: digest, linkCount: linkCount,
            links: links, lastSaves: saves)
    }

    private static func lastSaves(from reader: inout ByteReader, upTo generation: UInt64) -> [LastSave]? {
        var saves: [LastSave] = []
        var last: UInt64 = 0
        while !reader.isAtEnd {
            guard let origin: UInt32 = reader.integer(), let number: UInt64 = reader.integer(), number > last,
                number <= generation, !saves.contains(where: { $0.origin == origin })
            else { return nil }
            saves.append(LastSave(origin: origin, generation: number))
            last = number
        }
        return saves
    }

    static func context(_ vault: VaultID) -> [UInt8] { Array("manifest".utf8) + vault.bytes }

    // MARK: - Hashes

    /// The hash of one item: its place and its sealed metadata, which names the version that the secret is bound to.
    static func digest(lookup: [UInt8], metadata: [UInt8], _ keys: VaultKeys) -> [UInt8] {
        let message = lookup + metadata
        return keys.itemHash.withExposedBytes { KeyedHash.digest(message.span, key: $0) }
    }

    /// Those of several items.
    static func digests(of items: [ItemHeading], _ keys: VaultKeys) -> [[UInt8]] {
        keys.itemHash.withExposedBytes { KeyedHash.digests(of: items.map { $0.lookup + $0.metadata }, key: $0) }
    }

    /// The hash of all records but the manifest, in the order of their names.
    static func digest(_ records: [NamedRecord], _ keys: VaultKeys) -> [UInt8] {
        var writer = ByteWriter()
        for record in records {
            writer.append(record.name, length: UInt16.self)
            writer.append(UInt32(record.content.count))
            writer.append(record.content)
        }
        return keys.recordHash.withExposedBytes { KeyedHash.digest(writer.bytes.span, key: $0) }
    }

    // MARK: - History

    /// Begins the next transaction. The origin is `nil` without a rollback record.
    mutating func advance(by origin: UInt32?) {
        generation += 1
        guard let origin else { return }
        lastSaves.removeAll { $0.origin == origin }
        if lastSaves.count == LastSave.maximumCount { lastSaves.removeFirst() }
        lastSaves.append(LastSave(origin: origin, generation: generation))
    }

    /// An empty vault's manifest that continues this one, under other keys.
    func emptied() -> Manifest {
        var manifest = Manifest(recordsDigest: recordsDigest)
        manifest.generation = generation
        manifest.lastSaves = lastSaves
        return manifest
    }

    /// Whether this is older than one that was seen, or of a copy that was changed elsewhere; `nil` for a newer one or the
    /// same.
    func rollback(after seen: Manifest) -> VaultRollback? {
        if generation > seen.generation { return seen.lastSaves.lazy.compactMap(loss(of:)).first }
        return self == seen ? nil : VaultRollback(generation: generation, seenGeneration: seen.generation)
    }

    /// Whether a seen save was lost, though others have saved since. Returns `nil` if this vault's history has that
    /// save or a later one of its origin, or if another origin has taken the origin's place.
    func loss(of save: LastSave) -> VaultRollback? {
        let present = lastSaves.first { $0.origin == save.origin }
        let isThere =
            if let present { present.generation >= save.generation } else {
                lastSaves.count == LastSave.maximumCount && lastSaves[0].generation > save.generation
            }
        return isThere ? nil : VaultRollback(generation: generation, seenGeneration: save.generation)
    }

    mutating func add(lookup: [UInt8], metadata: [UInt8], _ keys: VaultKeys) {
        items.add(Self.digest(lookup: lookup, metadata: metadata, keys))
        itemCount += 1
    }

    /// Takes an item out; throws `corrupted` when there are none left.
    mutating func remove(lookup: [UInt8], metadata: [UInt8], _ keys: VaultKeys) throws(StoreError) {
        guard itemCount > 0 else { throw .vaultCorrupted("its manifest counts no item") }
        items.subtract(Self.digest(lookup: lookup, metadata: metadata, keys))
        itemCount -= 1
    }
}

/// A hash of a set that can be updated item by item: the sum of keyed hashes modulo 2^256 (MSet-Add-Hash, Clarke et
/// al., Asiacrypt 2003).
struct SetHash: Sendable, Equatable {
    /// The least significant first.
    fileprivate(set) var limbs: [UInt64] = [0, 0, 0, 0]

    init() {}

    init(limbs: [UInt64]) {
        precondition(limbs.count == 4)
        self.limbs = limbs
    }

    fileprivate init?(from reader: inout ByteReader) {
        var limbs: [UInt64] = []
        for _ in 0..<4 {
            guard let limb: UInt64 = reader.integer() else { return nil }
            limbs.append(limb)
        }
        self.init(limbs: limbs)
    }

    mutating func add(_ digest: [UInt8]) {
        var carry = false
        for index in 0..<4 {
            let (sum, first) = limbs[index].addingReportingOverflow(Self.limb(index, of: digest))
            let (total, second) = sum.addingReportingOverflow(carry ? 1 : 0)
            limbs[index] = total
            carry = first || second
        }
    }

    mutating func subtract(_ digest: [UInt8]) { subtract((0..<4).map { Self.limb($0, of: digest) }) }

    func subtracting(_ other: SetHash) -> SetHash {
        var result = self
        result.subtract(other.limbs)
        return result
    }

    private mutating func subtract(_ other: [UInt64]) {
        var borrow = false
        for (index, limb) in other.enumerated() {
            let (difference, first) = limbs[index].subtractingReportingOverflow(limb)
            let (total, second) = difference.subtractingReportingOverflow(borrow ? 1 : 0)
            limbs[index] = total
            borrow = first || second
        }
    }

    /// Eight of the 32 bytes of a digest.
    private static func limb(_ index: Int, of digest: [UInt8]) -> UInt64 {
        precondition(digest.count == 32)
        var limb: UInt64 = 0
        for byte in 0..<8 { limb |= UInt64(digest[index * 8 + byte]) << UInt64(byte * 8) }
        return limb
    }
}
