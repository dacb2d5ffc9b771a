// Docs/Benchmarks.md has the command.
//
// Every figure is a ratio within this run. Needs what the tests need, and hyperfine, gnupg and age.
internal import Glibc
internal import TestServices

do {
    let session = try await PrivateSession()
    let warm = try WarmStores(session: session)
    try await warm.inMemory()
    try await LogCalls.run()
    try await warm.vault()
    try await warm.secretService()
    let cold = ColdStart(latchkey: try BuiltProducts.latchkey(), session: session)
    try await cold.vault()
    try await cold.secretService()
} catch {
    print("stopped: \(error)")
    exit(1)
}
