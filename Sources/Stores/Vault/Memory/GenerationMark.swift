internal import LatchkeyCredentials
internal import LatchkeySecrets

/// How far a vault was seen: what its manifest said.
///
/// In clear: layout (1), generation (8), hash of the manifest (32).
struct GenerationMark: Sendable, Equatable {
    let generation: UInt64
    /// Tells two copies apart that were changed equally often.
    let digest: [UInt8]

    private static let byteCount = 41
    static let sealedByteCount = byteCount + Sealing.overheadByteCount

    private init(generation: UInt64, digest: [UInt8]) {
        self.generation = generation
        self.digest = digest
    }

    init(_ manifest: Manifest, _ keys: VaultKeys) {
        let bytes = manifest.encode()
        self.init(
            generation: manifest.generation,
            digest: keys.rollbackHash.withExposedBytes { KeyedHash.digest(bytes.span, key: $0) })
    }

    func seal(_ keys: VaultKeys) throws(StoreError) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(generation)
        writer.append(digest)
        return try Sealing.seal(writer.bytes.span, associatedData: Self.context(keys.vault), key: keys.rollback)
    }

    /// Returns `nil` for anything that `seal` didn't write for this vault.
    static func open(_ bytes: [UInt8], key: borrowing Secret<VaultSubkey>, vault: VaultID) -> GenerationMark? {
        guard bytes.count == sealedByteCount,
            let plaintext = Sealing.openPublic(bytes.span, associatedData: context(vault), key: key)
        else { return nil }
        return decode(plaintext)
    }

    /// The same under a vault's keys or, since the vault was rekeyed, those of before: the digest of such a mark can't be
    /// compared.
    static func open(
        _ bytes: [UInt8], _ keys: VaultKeys, _ former: FormerKeys
    ) -> (mark: GenerationMark, hasFormerKey: Bool)? {
        if let mark = open(bytes, key: keys.rollback, vault: keys.vault) { return (mark, false) }
        return former.first { open(bytes, key: $0, vault: keys.vault) }.map { ($0, true) }
    }

    static func decode(_ plaintext: [UInt8]) -> GenerationMark? {
        var reader = ByteReader(plaintext)
        guard reader.integer(UInt8.self) == 1, let generation: UInt64 = reader.integer(),
            let digest = reader.take(32), reader.isAtEnd
        else { return nil }
        return GenerationMark(generation: generation, digest: digest)
    }

    private static func context(_ vault: VaultID) -> [UInt8] { Array("rollback record".utf8) + vault.bytes }
}
