import Testing
import TestServices

// The README shows this import and this function word for word.

import Latchkey

func keep(_ password: borrowing Secret<Password>, in environment: ProgramEnvironment) async throws -> Bool {
    let (store, _) = try await StoreSelector.open(in: environment)  // the desktop's keyring, or a vault
    let key = try CredentialKey(service: "api.example.org", account: "ada")
    try await store.save(password, for: key)
    guard let record = try await store.read(key, as: Password.self) else { return false }
    return record.secret.matches(password)  // "\(password)" does not compile, here or anywhere
}

struct LibraryExampleTests {
    @Test func `the README's library example keeps a password where the environment says`() async throws {
        let directory = try TestDirectory()
        let (vault, keyFile) = (directory / "v/vault", directory / "key")
        try VaultKeyFile.create(at: keyFile)
        let store = try await VaultStore.create(at: vault, unlockedBy: .keyFile(keyFile))
        let environment = ProgramEnvironment(
            variables: ["LATCHKEY_VAULT": vault, "LATCHKEY_KEY_FILE": keyFile], home: directory.path)
        #expect(try await keep(try Secret.random(byteCount: 32), in: environment))
        let key = try CredentialKey(service: "api.example.org", account: "ada")
        #expect(try await store.read(key, as: Password.self) != nil)
    }
}
