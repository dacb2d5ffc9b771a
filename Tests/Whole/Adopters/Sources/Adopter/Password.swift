public import Latchkey

/// Keeps a password in the best store that there is.
public func keepPassword(
    _ password: borrowing Secret<Password>, in world: ProgramEnvironment, log: RedactedLogger
) async throws -> Bool {
    let (store, choice) = try await StoreSelector.open(in: world, log: log)
    log.info("keeping it in \(choice)")
    let key = try CredentialKey(service: "api.example.org", account: "alice")
    try await store.save(password, for: key)
    guard let record = try await store.read(key, as: Password.self) else { return false }
    return record.secret.matches(password)
}
