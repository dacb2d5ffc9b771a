internal import Credentials
internal import Secrets
internal import Sodium

/// How far a vault was seen: what its manifest said.
///
/// In clear: layout (1), generation (8), hash of the manifest (32). Sealed under the root key's `memory`.
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

    init(_ manifest: Manifest, key: borrowing Secret<VaultSubkey>) {
        let bytes = manifest.encode()
        self.init(
            generation: manifest.generation,
            digest: key.withExposedBytes { KeyedHash.digest(bytes.span, key: $0) })
    }

    func seal(_ key: borrowing Secret<VaultSubkey>, vault: VaultID) throws(StoreError) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(UInt8(1))
        writer.append(generation)
        writer.append(digest)
        return try Sealing.seal(writer.bytes.span, associatedData: Self.context(vault), key: key)
    }

    /// Returns `nil` for anything that `seal` didn't write for this vault.
    static func open(_ bytes: [UInt8], key: borrowing Secret<VaultSubkey>, vault: VaultID) -> GenerationMark? {
        guard bytes.count == sealedByteCount,
            let plaintext = Sealing.openPublic(bytes.span, associatedData: context(vault), key: key)
        else { return nil }
        return decode(plaintext)
    }

    static func decode(_ plaintext: [UInt8]) -> GenerationMark? {
        var reader = ByteReader(plaintext)
        guard reader.integer(UInt8.self) == 1, let generation: UInt64 = reader.integer(),
            let digest = reader.take(32), reader.isAtEnd
        else { return nil }
        return GenerationMark(generation: generation, digest: digest)
    }

    private static func context(_ vault: VaultID) -> [UInt8] { Array("memory".utf8) + vault.bytes }
}
