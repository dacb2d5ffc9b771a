import Credentials
import Secrets
import Testing

@testable import Vault

@Suite struct KeySlotTests {
    @Test func `a vault opens with the passphrase that it was made with`() async throws {
        let folder = try VaultFolder()
        let made = try await VaultStore.create(at: folder.vault, unlockedBy: passphrase("correct horse"), cost: .cheap)
        try await made.save(secret("s3cret"), for: key("ada"))
        let opened = try await VaultStore.open(at: folder.vault, unlockedBy: passphrase("correct horse"))
        #expect(try await opened.text(key("ada")) == "s3cret")
    }

    @Test func `a wrong passphrase is told as such and leaves the file untouched`() async throws {
        let folder = try VaultFolder()
        let made = try await VaultStore.create(at: folder.vault, unlockedBy: passphrase("correct horse"), cost: .cheap)
        try await made.save(secret("s3cret"), for: key("ada"))
        let before = try folder.contents()
        for wrong in ["", "correct hors", "correct horse ", "Correct horse", "correct horse\0"] {
            let error = await refusal { () async throws(StoreError) in
                try await VaultStore.open(at: folder.vault, unlockedBy: passphrase(wrong))
            }
            #expect(error?.code == .wrongKey)
        }
        #expect(try folder.contents() == before)
        #expect(folder.names == ["vault", "vault-journal"])
    }

    @Test func `a wrong key file is told as such and leaves the file untouched`() async throws {
        let folder = try VaultFolder()
        try await folder.store().save(secret("s3cret"), for: key("ada"))
        let before = try folder.contents()
        try VaultKeyFile.create(at: folder.path + "/other")
        let error = await refusal { () async throws(StoreError) in
            try await VaultStore.open(at: folder.vault, unlockedBy: .keyFile(folder.path + "/other"))
        }
        #expect(error?.code == .wrongKey)
        #expect(try folder.contents() == before)
    }
}
