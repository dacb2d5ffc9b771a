import Latchkey

/// A server without a person.
func serve() async throws {
    let hardening = ProcessHardening.apply()
    let log = RedactedLogger("report", sink: TextLogSink(format: .priorityPrefixed))
    log.info("\(hardening)")
    let vault = try await VaultStore.open(
        at: "/var/lib/report/vault", unlockedBy: .keyFile("/etc/report/key"),
        memory: RollbackMemory(directory: "/var/lib/report/seen"))
    let session = SignInService(
        provider: try .issuer(Issuer("https://login.bank.example"), name: "bank", clientID: "report"), store: vault,
        context: SignInContext(environment: .current(), log: log))
    let token = try await session.accessToken()
    log.info("a token of \(token.byteCount) bytes")
}

func setUp() async throws {
    try VaultKeyFile.create(at: "/etc/report/key")
    _ = try await VaultStore.create(at: "/var/lib/report/vault", unlockedBy: .keyFile("/etc/report/key"))
}
