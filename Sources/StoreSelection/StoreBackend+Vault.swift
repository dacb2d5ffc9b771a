public import Credentials
internal import Glibc
internal import RedactedLog
internal import Secrets
public import Vault

extension StoreBackend {
    /// A sealed file. It can be used where there is one; making it is an act of its own, `latchkey vault init`.
    static let vault = StoreBackend(
        name: "vault",
        exists: { settings in unsafe access(settings.vaultPath, F_OK) == 0 || errno != ENOENT },
        probe: { (settings) throws(StoreError) in try VaultStore.probe(at: settings.vaultPath) },
        open: { (settings) throws(StoreError) in try await openVault(settings) })

    private static func openVault(_ settings: StoreSettings) async throws(StoreError) -> VaultStore {
        // A person is asked for the passphrase of a vault that is there and sound, no other.
        if case .ask = settings.vaultKey { try VaultStore.probe(at: settings.vaultPath) }
        let source = try settings.vaultKey.source()
        return try await VaultStore.open(at: settings.vaultPath, unlockedBy: source, deadline: settings.deadline)
    }
}

extension StoreSettings.VaultKey {
    /// Reads or asks for what opens the vault.
    public func source() throws(StoreError) -> VaultKeySource {
        switch self {
        case .keyFile(let path): .keyFile(path)
        case .passphraseFile(let path): .passphrase(try PassphraseFile.read(path))
        case .passphraseDescriptor(let number): .passphrase(try PassphraseFile.read(descriptor: number))
        case .ask(let question): .passphrase(try question())
        }
    }
}
