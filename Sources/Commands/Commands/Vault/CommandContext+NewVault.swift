internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeySystem
internal import LatchkeyCommandLine
internal import LatchkeyVault

extension CommandContext {
    /// Whether there is nothing at the path of the vault, or only empty tables.
    var lacksVault: Bool {
        get async throws {
            if VaultLocation.isDatabase(settings.vaultPath) {
                let error = await failure(
                    StoreError.self, awaiting: try await settings.lockedVault())
                return error?.recoveries.contains(.createVault) ?? false
            }
            var status = stat()
            return unsafe lstat(settings.vaultPath, &status) != 0 && (errno == ENOENT || errno == ENOTDIR)
        }
    }

    /// The key of a vault that is to be made: a file, or what the settings name, or a passphrase that is asked for.
    func keyOfNewVault(file: String?) throws -> NewVaultKey {
        if let file { return try NewVaultKey(keyFile: file) }
        switch settings.vaultKey {
        case .keyFile(let path): return try NewVaultKey(keyFile: path)
        case .search:
            return try NewVaultKey(
                asking: prompt, "New passphrase of the vault", otherwise: "name its file in LATCHKEY_PASSPHRASE_FILE")
        default: return try NewVaultKey(reading: settings.vaultKey)
        }
    }

    /// Makes the vault, and says so.
    ///
    /// - Parameter keyFile: what opens it, and is remembered: no setting names it.
    func createVault(unlockedBy key: consuming NewVaultKey, remembering keyFile: String?) async throws -> VaultStore {
        let vault: VaultStore
        do throws(StoreError) {
            vault = try await VaultStore.create(
                at: settings.vaultPath, unlockedBy: key.source, memory: settings.vaultMemory, deadline: deadline)
        } catch {
            await key.discard()
            throw error
        }
        key.announce(on: output)
        output.note("made the vault \(shown(settings.vaultPath))")
        if let keyFile { remember(keyFile, for: vault) }
        return vault
    }

    /// The next command finds the key file by itself, or its person learns how to name it.
    private func remember(_ file: String, for vault: VaultStore) {
        do throws(StoreError) {
            try RememberedKeyFiles(environment).remember(file, for: vault)
            output.note("the key file opens it from now on, unless another key is named")
        } catch {
            output.warn(
                "\(error)",
                hint: "write `key-file = \(shown(file))` into \(shown(configurationFolder + "/config"))")
        }
    }

    private func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a vault or a key file", unredacted: path)
    }
}
