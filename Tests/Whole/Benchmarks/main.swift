// Docs/Reference/benchmarks.md has the command.
//
//     latchkey-benchmarks [GROUP]...      memory, log, audit, proof, sign-in, vault, large, database, keyring, search, services, cold,
//     tokens, helpers, managers, scale-vault, scale-database, scale-tail; all without a name
//
// Every figure is a ratio within this run. Needs what the tests need, and hyperfine, gnupg, age, nginx and oidc-agent-cli; shows pass,
// gopass and (with LATCHKEY_BENCHMARK_PYTHON, a Python that has it) keyrings.cryptfile where they are.
internal import Glibc
internal import Synchronization
internal import TestServices

func group(_ name: String, _ run: () async throws -> Void) async throws {
    let chosen = CommandLine.arguments.dropFirst()
    if chosen.isEmpty || chosen.contains(name) { try await run() }
}

TestDirectory.usesDisk.store(true, ordering: .relaxed)
do {
    if let hosts = DatabaseHosts.ofThisProcess() {
        try await hosts.run()
        exit(0)
    }
    let session = try await PrivateSession(isSteady: false)
    let warm = try WarmStores(session: session)
    let latchkey = try BuiltProducts.latchkey()
    try await group("memory") { try await warm.inMemory() }
    try await group("log") { try await LogCalls.run() }
    try await group("audit") { try AuditSpeed.run() }
    try await group("proof") { try await ProvedRequests.run() }
    try await group("sign-in") { try await SignInCosts.run() }
    try await group("vault") { try await warm.vault() }
    try await group("large") { try await LargeVaults(directory: TestDirectory(inMemory: true)).run(latchkey) }
    try await group("database") { try await DatabaseVaults.run() }
    try await group("keyring") { try await warm.secretService() }
    try await group("search") { try await SearchInMany.run(latchkey) }
    try await group("services") { try await KeyringServices.run(latchkey) }
    try await group("cold") {
        let cold = ColdStart(latchkey: try await ColdStart.installed(latchkey, session), session: session)
        try await cold.vault()
        try await cold.secretService()
    }
    try await group("tokens") {
        try await ColdStart(latchkey: ColdStart.installed(latchkey, session), session: session).tokens()
    }
    try await group("helpers") {
        try await HelperAnswers(latchkey: ColdStart.installed(latchkey, session), session: session).run()
    }
    try await group("managers") {
        try await PasswordManagers(latchkey: latchkey, directory: TestDirectory()).run()
    }
    try await group("scale-vault") { try await ScaledVaults.run(latchkey) }
    try await group("scale-database") { try await ScaledDatabase.run() }
    try await group("scale-tail") { try await SlowRefreshes.run() }
} catch {
    print("stopped: \(error)")
    exit(1)
}
