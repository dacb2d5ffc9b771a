import LatchkeyCredentials
import Testing
import TestServices

@testable import LatchkeyVault

/// Each host its key.
@Suite struct HostSlotTests {
    @Test func `a hundred hosts have a key each, and one that is dropped is locked out`() async throws {
        let vault = try await DatabaseVault()
        let store = try await vault.create(1)
        for host in 1..<100 {
            try VaultKeyFile.create(at: vault.directory / "key\(host)")
            try await store.addSlot(
                .keyFile(vault.directory / "key\(host)"), name: #require(KeySlotName("host\(host)")))
        }
        func open(on host: Int) async throws(StoreError) -> VaultStore {
            try await VaultStore.open(at: vault.uri, unlockedBy: .keyFile(vault.directory / "key\(host)"))
        }
        let last = try await open(on: 99)
        #expect(try await store.removeSlot(#require(KeySlotName("host50"))))
        #expect(try await store.rekey() == 1)
        let dropped = await refusal { () async throws(StoreError) in try await open(on: 50) }
        #expect(dropped?.code == .wrongKey)
        // One that was open goes on, and one that comes needs nothing.
        #expect(try await last.text(key("0")) == "secret 0")
        #expect(try await open(on: 51).text(key("0")) == "secret 0")
    }
}
