internal import LatchkeyCredentials
internal import LatchkeyKeyringService
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreSelection
internal import LatchkeySystem
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

    /// Opens the vault with a person's help, where there is one. A vault that stays locked is served as that.
    func openAsking() async throws(StoreError) {
        let vault = try await nilIf(
            { (error: StoreError) in [.locked, .promptDismissed, .cancelled].contains(error.code) },
            awaiting: try await settings.openVault())
        opened.withLock { $0 = vault }
    }

    func open(deadline: Deadline) async throws(StoreError) -> ServedItems {
        if let vault = opened.withLock({ $0 }) { return items(of: vault) }
        let settings = settings.askingNobody
        return try await mapError(
            { (error: StoreError) in
                error.code == .locked && error.hint == nil
                    ? StoreError(.locked, "the vault is locked", hint: "\(Recovery.unlockVault)") : error
            }, awaiting: items(of: try await settings.openVault()))
    }

    func open(
        with passphrase: borrowing Secret<Passphrase>, deadline: Deadline
    ) async throws(StoreError) -> ServedItems {
        items(
            of: try await VaultStore.open(
                at: settings.vaultPath, unlockedBy: .passphrase(passphrase.duplicate()), memory: settings.vaultMemory,
                itemCheck: settings.vaultItemCheck, deadline: deadline))
    }

    func close() async -> Bool {
        // A key that is there for all to open it with makes a lock a matter of form.
        guard (try? await settings.askingNobody.openVault()) == nil else { return false }
        opened.withLock { $0 = nil }
        return true
    }

    private func items(of vault: VaultStore) -> ServedItems {
        ServedItems(vault, scope: scope)
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
