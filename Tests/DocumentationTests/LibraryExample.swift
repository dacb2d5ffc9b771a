import Testing
import TestServices

// The README shows this import and this function word for word.

import Latchkey

func keepToken(vault path: String, keyFile: String, log: RedactedLogger) async throws -> Bool {
    try VaultKeyFile.create(at: keyFile)
    let vault = try await VaultStore.create(at: path, unlockedBy: .keyFile(keyFile))
    let key = try CredentialKey(service: "example.org", account: "alice")
    let token = try Secret<AccessToken>.random(byteCount: 32)
    try await vault.save(token, for: key)
    log.info("saved \(key) in \(vault.identity)")  // "\(token)" does not compile, here or anywhere
    guard let record = try await vault.read(key, as: AccessToken.self) else { return false }
    return record.secret.matches(token)
}

struct LibraryExampleTests {
    @Test func `the README's library example keeps a token and says so without it`() async throws {
        let directory = try TestDirectory()
        let sink = MemoryLogSink()
        let kept = try await keepToken(
            vault: directory / "v/vault", keyFile: directory / "key", log: RedactedLogger("example", sink: sink))
        #expect(kept)
        #expect(sink.records.map(\.message.text) == ["saved example.org/alice in vault \(directory.path)/v/vault"])
    }
}
