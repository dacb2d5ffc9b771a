import Glibc
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyVault

/// Gives the vault a slot for the passphrase on standard input, or makes it with that slot alone where the key file is
/// `-`. A try takes one pass over some MiB of memory: less than `latchkey` ever asks for, as tests try many.
func addWords(_ mebibytes: Int) async throws {
    let arguments = CommandLine.arguments
    guard let name = KeySlotName(arguments[4]) else { exit(64) }
    let cost = try PassphraseCost(memoryByteCount: mebibytes << 20, passes: 1)
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1024)
    while case let count = unsafe read(0, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
    let words = VaultKeySource.passphrase(Secret(copying: bytes.span))
    if arguments[3] == "-" {
        _ = try await VaultStore.create(at: arguments[2], unlockedBy: words, name: name, cost: cost)
    } else {
        let store = try await VaultStore.open(at: arguments[2], unlockedBy: .keyFile(arguments[3]))
        try await store.addSlot(words, name: name, cost: cost)
    }
}
