import Credentials
import StoreContract
import Testing

@testable import Vault

/// The sealed rows over another table than SQLite's.
@Suite struct OtherTableContractTests {
    @Test(arguments: ContractCase.all)
    func `keeps the store contract`(_ statement: ContractCase) async throws {
        let folder = try VaultFolder()
        let root = RootKeys(try Sealing.randomKey(as: RootKey.self), vault: try .random())
        let records = try SealedStore<MemoryRowTable>.newRecords(root)
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        let manifest = Manifest(recordsDigest: Manifest.digest(records, root: root))
        let table = MemoryRowTable(
            records + [NamedRecord(name: Manifest.recordName, content: try manifest.seal(root))])
        try await statement.check(leases: folder.leases) {
            try SealedStore(
                table: table, root: root, identity: StoreIdentity(backend: "vault", location: folder.path),
                worker: WorkThread(), now: { .now() })
        }
    }
}
