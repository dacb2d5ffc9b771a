internal import LatchkeyCredentials
internal import LatchkeyItems
internal import LatchkeyKeyringService
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeyVault
internal import Synchronization

/// The vault whose items are served.
final class VaultSource: KeyringSource {
    private let settings: StoreSettings
    private let scope: ItemScope?
    /// What a person has opened before it was asked for.
    private let opened: Mutex<VaultStore?>

    /// - Parameters:
    ///   - scope: what alone is served; `nil` for all of it.
    ///   - opened: the vault, where somebody was asked for its passphrase already.
    init(_ settings: StoreSettings, scope: ItemScope?, opened: VaultStore? = nil) {
        self.settings = settings.askingNoKeyring
        self.scope = scope
        self.opened = Mutex(opened)
    }

    func open(deadline: Deadline) async throws(StoreError) -> any ItemStore {
        if let vault = opened.withLock({ $0 }) { return items(of: vault) }
        return items(of: try await settings.askingNobody.openVault())
    }

    func open(
        with passphrase: borrowing Secret<Passphrase>, deadline: Deadline
    ) async throws(StoreError) -> any ItemStore {
        items(
            of: try await VaultStore.open(
                at: settings.vaultPath, for: settings.vaultUse,
                unlockedBy: .passphrase(passphrase.duplicate()), memory: settings.vaultMemory,
                itemCheck: settings.vaultItemCheck, deadline: deadline))
    }

    func close() async -> Bool {
        // A key that is there for all to open it with makes a lock a matter of form.
        guard (try? await settings.askingNobody.openVault()) == nil else { return false }
        opened.withLock { $0 = nil }
        return true
    }

    private func items(of vault: VaultStore) -> any ItemStore {
        let all = vault.itemStore()
        guard let scope else { return all }
        return ScopedItems(all, scope)
    }
}

extension StoreSettings {
    /// Without the keys that are kept in a keyring: it would be the one that waits to be served.
    var askingNoKeyring: StoreSettings {
        var settings = self
        if case .search(var search) = vaultKey {
            search.asksKeyring = false
            settings.vaultKey = .search(search)
        }
        return settings
    }
}
