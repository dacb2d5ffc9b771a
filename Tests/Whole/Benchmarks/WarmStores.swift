internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeySecrets
internal import LatchkeySecretService
internal import LatchkeyVault
internal import TestServices

/// Reads and durable saves inside one process, each store beside what it is built on.
struct WarmStores {
    let session: PrivateSession
    let key: CredentialKey
    let text = "a token of forty characters, more or less"

    init(session: PrivateSession) throws {
        self.session = session
        key = try CredentialKey(service: "bench", account: "warm")
    }

    private func operations(on store: any CredentialStore) -> (
        read: () async throws -> Void, save: () async throws -> Void
    ) {
        let key = key
        let bytes = Array(text.utf8)
        return (
            { _ = try await store.read(key, as: Password.self) != nil },
            { try await store.save(Secret<Password>(copying: bytes.span), for: key) }
        )
    }

    func vault() async throws {
        let keyFile = session.directory / "warm.key"
        try VaultKeyFile.create(at: keyFile)
        let store = try await VaultStore.create(
            at: session.directory / "warm/vault", unlockedBy: .keyFile(keyFile))
        let bare = try BareSQLite(
            path: session.directory / "bare.sqlite",
            pragmas: ["journal_mode = TRUNCATE", "synchronous = EXTRA", "secure_delete = ON"])
        let name = Array("bench warm".utf8)
        let value = Array(text.utf8)
        let (read, save) = operations(on: store)
        let sealing = BareSealing()
        let sealed = sealing.seal(value + [UInt8](repeating: 0, count: 256 - value.count), number: 1)
        try await save()
        try bare.save(name, sealed)
        Comparison(
            title: "Warm read from a vault (limit: 1.5 × bare SQLite and one AEAD opening)", limit: 1.5,
            rows: try await Measurement.take(
                rounds: 101, count: 200,
                [
                    ("bare SQLite, one indexed read and one opening", { _ = try sealing.open(bare.read(name)) }),
                    ("VaultStore.read", read),
                ])
        ).show()
        Comparison(
            title: "Durable save to a vault (limit: 1.3 × bare SQLite)", limit: 1.3,
            // A disk's slow moments are shorter than a long round, and would meet one of the two.
            rows: try await Measurement.take(
                rounds: 101, count: 5,
                [
                    ("bare SQLite, the same durability", { try bare.save(name, sealed) }),
                    ("VaultStore.save", save),
                ])
        ).show()
    }

    func secretService() async throws {
        // libsecret keeps one bus a process, found from the environment at its first call.
        for (name, value) in session.environment { unsafe setenv(name, value, 1) }
        let store = SecretServiceStore(
            SecretServiceConfiguration(coordination: LeaseDirectory(path: session.directory / "run/leases")))
        let bare = try BareLibsecret(service: "bench", account: "bare")
        let (read, save) = operations(on: store)
        try bare.save(text)
        try await save()
        Comparison(
            // 0.95 of libsecret's reads per second.
            title: "Warm read from the Secret Service (limit: 1.05 × libsecret)", limit: 1.05,
            rows: try await Measurement.take(
                count: 100,
                [
                    ("libsecret, secret_service_lookup_sync", { _ = try bare.read() }),
                    ("SecretServiceStore.read", read),
                ])
        ).show()
        Comparison(
            title: "Save to the Secret Service",
            rows: try await Measurement.take(
                count: 30,
                [
                    ("libsecret, secret_service_store_sync", { try bare.save(text) }),
                    ("SecretServiceStore.save", save),
                ])
        ).show()
    }

    func inMemory() async throws {
        let (read, save) = operations(on: try InMemoryStore())
        Comparison(
            title: "The store in memory",
            rows: try await Measurement.take(
                count: 2000,
                [
                    ("InMemoryStore.save", save),
                    ("InMemoryStore.read", read),
                ])
        ).show()
    }
}
