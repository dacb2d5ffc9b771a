internal import Glibc
package import LatchkeyCredentials
internal import LatchkeySecrets
package import LatchkeyVault

extension StoreBackend {
    /// A sealed file, or sealed rows in a database. It can be used where there is one; making it is an act of its own, `latchkey vault init`.
    static let vault = StoreBackend(
        name: "vault",
        place: StorePlace(
            word: "vault", placeholder: "PATH|URI", variable: "LATCHKEY_VAULT", help: "the vault's file or database",
            noun: "a vault"),
        exists: { settings in
            // A database that is named isn't asked before it is used.
            unsafe VaultLocation.isDatabase(settings.vaultPath) || access(settings.vaultPath, F_OK) == 0
                || errno != ENOENT
        },
        probe: { (settings) throws(StoreError) in try VaultStore.probe(at: settings.vaultPath) },
        open: { (settings) throws(StoreError) in try await settings.openVault() },
        openBeside: { (settings) throws(StoreError) -> (any CredentialStore)? in
            guard unsafe access(settings.vaultPath, F_OK) == 0 else { return nil }
            switch settings.vaultKey {
            case .keyFile, .search: return try await settings.askingNobody.openVault()
            // Argon2 takes its time, and a descriptor can be read once.
            case .passphraseFile, .passphraseDescriptor: return nil
            }
        })
}

extension StoreSettings {
    /// Opens the vault with the key that is named, or else with the first one that is found.
    package func openVault() async throws(StoreError) -> VaultStore { try await unlock(try await lockedVault()) }

    /// The vault without its key.
    package func lockedVault() async throws(StoreError) -> LockedVault {
        try await LockedVault.open(at: vaultPath, deadline: deadline)
    }

    /// Opens the vault as `openVault()` does.
    package func unlock(_ vault: LockedVault) async throws(StoreError) -> VaultStore {
        if case .search(let search) = vaultKey { return try await search.unlock(vault, self) }
        return try await unlock(vault, with: try vaultKey.source(deadline: deadline))
    }

    func unlock(_ vault: LockedVault, with key: borrowing VaultKeySource) async throws(StoreError) -> VaultStore {
        try await vault.unlock(with: key, memory: vaultMemory, itemCheck: vaultItemCheck, deadline: deadline)
    }
}

extension StoreSettings.VaultKey {
    /// Reads or asks for what opens the vault. Where nothing is named, the person is asked.
    ///
    /// - Parameter deadline: how long a pipe that another process writes to is waited for; a person has no such limit.
    package func source(deadline: Deadline = .standard) throws(StoreError) -> VaultKeySource {
        switch self {
        case .keyFile(let path): .keyFile(path)
        case .passphraseFile(let path): .passphrase(try PassphraseFile.read(path, deadline: deadline))
        case .passphraseDescriptor(let number):
            .passphrase(try PassphraseFile.read(descriptor: number, deadline: deadline))
        case .search(let search): .passphrase(try search.ask(1))
        }
    }
}
