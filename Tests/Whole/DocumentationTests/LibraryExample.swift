import Testing
import TestServices

// Docs/HowTo/secrets-in-swift.md shows these functions word for word.

import Latchkey

func keep(_ password: borrowing Secret<Password>, in environment: ProgramEnvironment) async throws -> Bool {
    let (store, _) = try await StoreSelector.open(in: environment)  // the desktop's keyring, or a vault
    let key = try CredentialKey(service: "api.example.org", account: "ada")
    try await store.save(password, for: key)
    guard let record = try await store.read(key, as: Password.self) else { return false }
    return record.secret.matches(password)  // "\(password)" does not compile, here or anywhere
}

func connect(with text: String, _ driver: (Span<UInt8>) throws -> Void) throws {
    let password = Secret<Password>(copying: Array(text.utf8).span)
    try password.withExposedBytes { try driver($0) }  // the span can't outlive the call
}

func askForPassword() throws -> Secret<Password> {
    try Secret<Password>(reading: "Password of the database")  // the terminal shows nothing of the answer
}

struct LibraryExampleTests {
    @Test func `a secret is lent to a driver`() throws {
        var lent: [UInt8] = []
        try connect(with: "s3cret") { span in for index in span.indices { lent.append(span[index]) } }
        #expect(lent == Array("s3cret".utf8))
    }

    @Test func `the library example keeps a password where the environment says`() async throws {
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
