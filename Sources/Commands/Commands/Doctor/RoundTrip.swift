internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// Saves a throw-away secret in a store, reads it back and deletes it.
struct RoundTrip {
    let store: any CredentialStore
    let deadline: Deadline

    func finding() async throws(StoreError) -> Finding {
        do throws(StoreError) {
            return try await run()
        } catch {
            if error.code == .cancelled { throw error }
            // The person may open it: this process must not ask.
            if error.code == .locked {
                return .note("round trip", "not tried: \(error.cause)", remedy: error.hint?.worded)
            }
            return .refusal("round trip", error, matters: true)
        }
    }

    private func newSecret() throws(StoreError) -> Secret<Password> {
        return try mapError(
            { (error: RandomSourceError) in StoreError(.unavailable, "\(error)", platform: .errno(error.number)) },
            of: .random(byteCount: 32))
    }

    private func run() async throws(StoreError) -> Finding {
        let secret = try newSecret()
        guard let key = try? CredentialKey(service: "latchkey:doctor", account: "\(UInt64.random(in: 0 ... .max))")
        else {
            return .note("round trip", "not tried")
        }
        let options = SaveOptions(label: "Latchkey's doctor, to be deleted", condition: .absent)
        try await store.save(secret, for: key, options: options, deadline: deadline)
        let isSame = try await store.read(key, as: Password.self, deadline: deadline)?.secret.matches(secret) ?? false
        try await store.delete(key, condition: .none, deadline: deadline)
        let isGone = try await store.read(key, as: Password.self, deadline: deadline) == nil
        guard isSame, isGone else {
            return .problem(
                "round trip", .badData,
                isSame ? "a deleted secret is still there" : "the store gave back another secret than it was given",
                remedy: "use another store, and report this with the name of the keyring's program")
        }
        return .good("round trip", "a secret was saved, read back and deleted in the store that is used")
    }
}
