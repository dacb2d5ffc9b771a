internal import LatchkeyCredentials
internal import LatchkeyLog

/// The rollback keys of a vault from before its rekeyings, the latest first. By them a process that knew the vault then
/// recognizes it now.
///
/// Record `former`, encrypted under the root key. The plain text: layout (1), count (1), 16 × key (32), with zeros for
/// missing keys.
final class FormerKeys: Sendable {
    /// 32 bytes for each.
    private let keys: Secret<VaultSubkey>
    private var count: Int { keys.byteCount / Self.keyByteCount }

    static let recordName = "former"
    /// The number of keys. After more rekeyings a process can't recognize the vault.
    static let capacity = 16
    private static let keyByteCount = 32
    private static let byteCount = 2 + capacity * keyByteCount

    /// Those of a vault that was never rekeyed.
    init() {
        keys = Secret(byteCount: 0) { _ in }
    }

    private init(_ keys: consuming Secret<VaultSubkey>) {
        self.keys = keys
    }

    /// The same after one more rekeying.
    func adding(_ key: borrowing Secret<VaultSubkey>) -> FormerKeys {
        let rest = min(count, Self.capacity - 1) * Self.keyByteCount
        return FormerKeys(
            Secret(byteCount: Self.keyByteCount + rest) { out in
                key.withExposedBytes { out.update(from: $0) }
                keys.withExposedBytes { out.update(from: $0.extracting(first: rest), at: Self.keyByteCount) }
            })
    }

    func contains(_ key: borrowing Secret<VaultSubkey>) -> Bool {
        for index in 0..<count where self.key(index).matches(key) { return true }
        return false
    }

    /// The first result of `body` that isn't `nil`, over all keys.
    func first<Result>(_ body: (borrowing Secret<VaultSubkey>) -> Result?) -> Result? {
        for index in 0..<count {
            if let result = body(key(index)) { return result }
        }
        return nil
    }

    private func key(_ index: Int) -> Secret<VaultSubkey> {
        keys.withExposedBytes {
            Secret(copying: $0.extracting(index * Self.keyByteCount..<(index + 1) * Self.keyByteCount))
        }
    }

    // MARK: - The record

    func seal(_ under: VaultKeys) throws(StoreError) -> NamedRecord {
        let plaintext = Secret<VaultSubkey>(byteCount: Self.byteCount) { out in
            out[0] = 1
            out[1] = UInt8(count)
            keys.withExposedBytes { bytes in for index in bytes.indices { out[2 + index] = bytes[index] } }
        }
        let sealed = try plaintext.withExposedBytes { (bytes) throws(StoreError) in
            try Sealing.seal(bytes, associatedData: Self.associatedData(under.vault), key: under.former)
        }
        return NamedRecord(name: Self.recordName, content: sealed)
    }

    static func open(_ record: [UInt8]?, _ under: VaultKeys) throws(StoreError) -> FormerKeys {
        guard let record, record.count == byteCount + Sealing.overheadByteCount else { throw damaged }
        let plaintext = Secret<VaultSubkey>(capacity: byteCount) { out in
            Sealing.open(record.span, associatedData: associatedData(under.vault), key: under.former, into: &out)
                ? byteCount : 0
        }
        guard plaintext.byteCount == byteCount else { throw damaged }
        return try plaintext.withExposedBytes { (bytes) throws(StoreError) in
            guard bytes[0] == 1, bytes[1] <= capacity else { throw damaged }
            let end = 2 + Int(bytes[1]) * keyByteCount
            var padding: UInt8 = 0
            for index in end..<byteCount { padding |= bytes[index] }
            guard padding == 0 else { throw damaged }
            return FormerKeys(Secret(copying: bytes.extracting(2..<end)))
        }
    }

    static func associatedData(_ vault: VaultID) -> [UInt8] { Array("former".utf8) + vault.bytes }

    private static var damaged: StoreError { .vaultCorrupted("its former keys don't open") }
}
