internal import Glibc
package import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecrets
package import LatchkeyVault

/// Finds what opens a vault when no option named it: the key that `vault unlock` left in the kernel, else what the vault
/// has a slot for: a credential from systemd, the remembered key file, a key in the desktop's keyring, a
/// passphrase that the person is asked for.
///
/// A way that isn't there is passed over, and the log says so. One that is there and is wrong, such as a credential
/// that others can read, is an error.
package struct VaultKeySearch: Sendable {
    /// Whether a key that was left in the kernel will do; it doesn't when its time shall be prolonged.
    package var takesUnlocked = true
    /// Whether a key that is kept in the keyring will do.
    package var asksKeyring = true
    /// What `$CREDENTIALS_DIRECTORY` says.
    package let credentialsDirectory: String?
    /// Where the key files of vaults are remembered.
    let keyFiles: RememberedKeyFiles?
    /// Asks the person for the passphrase. It throws `locked` or `promptDismissed` when no answer comes.
    package let ask: PassphrasePrompt

    package init(
        credentialsDirectory: String?, keyFiles: RememberedKeyFiles? = nil, ask: @escaping PassphrasePrompt
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.keyFiles = keyFiles
        self.ask = ask
    }

    /// A search in which no question is asked.
    package init(credentialsDirectory: String?, keyFiles: RememberedKeyFiles? = nil) {
        self.init(credentialsDirectory: credentialsDirectory, keyFiles: keyFiles) { (_) throws(StoreError) in
            throw StoreError(.locked, "the vault is locked, and --no-prompt forbids asking for its passphrase")
        }
    }

    /// The same search, in which no question is asked.
    package var askingNobody: VaultKeySearch {
        var search = VaultKeySearch(credentialsDirectory: credentialsDirectory, keyFiles: keyFiles)
        search.asksKeyring = asksKeyring
        return search
    }

    func unlock(_ vault: LockedVault, _ settings: StoreSettings) async throws(StoreError) -> VaultStore {
        var refusal: StoreError?
        if takesUnlocked {
            var absence: StoreError?
            let opened = try await tried(vault, settings, .debug, "the kernel's keyring", &absence) { .kernelKeyring }
            if let opened { return opened }
        }
        if let credentialsDirectory {
            for name in vault.systemCredentials {
                let credential = SystemCredential(name: name, directory: credentialsDirectory)
                let opened = try await tried(vault, settings, .info, "the credential \(name)", &refusal) {
                    .systemCredential(credential)
                }
                if let opened { return opened }
            }
        }
        if vault.has(.keyFile), let path = keyFiles?.path(forVault: vault.identifier) {
            let opened = try await tried(vault, settings, .info, "the remembered key file", &refusal) {
                () throws(StoreError) -> VaultKeySource in
                guard unsafe access(path, F_OK) == 0 else { throw .keyFileIsGone(path) }
                return .keyFile(path)
            }
            if let opened { return opened }
        }
        if asksKeyring, vault.has(.secretService) {
            let keyring = VaultKeyring(settings)
            for slot in vault.slots where slot.kind == .secretService {
                let opened = try await tried(vault, settings, .info, "the desktop's keyring", &refusal) {
                    () async throws(StoreError) -> VaultKeySource in
                    .keptKey(try await keyring.key(for: slot.reference), of: slot.reference)
                }
                if let opened { return opened }
            }
        }
        guard vault.has(.passphrase) else {
            throw refusal ?? (!asksKeyring && vault.has(.secretService) ? .keyringIsNotAsked : .noKeyNamed(vault))
        }
        return try await unlockByAsking(vault, settings, orThrow: refusal)
    }

    /// How often a person is asked for a passphrase.
    package static let attemptCount = 3

    /// Opens the vault with the passphrase alone that the person is asked for, who may mistype it twice.
    ///
    /// - Parameter refusal: thrown when no question can be asked, where it says more than that.
    package func unlockByAsking(
        _ vault: LockedVault, _ settings: StoreSettings, orThrow refusal: StoreError? = nil
    ) async throws(StoreError) -> VaultStore {
        var attempt = 1
        while true {
            let passphrase: Secret<Passphrase>
            do throws(StoreError) {
                passphrase = try ask(attempt)
            } catch  where error.code == .locked {
                throw refusal ?? error
            }
            do throws(StoreError) {
                return try await settings.unlock(vault, with: .passphrase(passphrase))
            } catch  where error.code == .wrongKey && attempt < Self.attemptCount {
                attempt += 1
            }
        }
    }

    /// Opens the vault with one key. Returns `nil` and says why when that isn't there, or is another one.
    private func tried(
        _ vault: LockedVault, _ settings: StoreSettings, _ level: LogLevel, _ place: LogMessage,
        _ refusal: inout StoreError?,
        _ key: () async throws(StoreError) -> VaultKeySource
    ) async throws(StoreError) -> VaultStore? {
        do throws(StoreError) {
            return try await settings.unlock(vault, with: try await key())
        } catch {
            switch error.code {
            case .locked, .promptDismissed, .timedOut, .unavailable, .wrongKey: break
            default: throw error
            }
            settings.logger.log(level, "\(place) doesn't open the vault: \(error)")
            // That a key is wrong says more than that another one is missing.
            if refusal?.code != .wrongKey { refusal = error }
            return nil
        }
    }
}

extension LockedVault {
    fileprivate func has(_ kind: KeySlotKind) -> Bool { slots.contains { $0.kind == kind } }

    /// The names of the credentials that slots ask for, each once.
    fileprivate var systemCredentials: [SystemCredentialName] {
        slots.compactMap(\.systemCredential).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }
}

extension StoreError {
    /// The key file that the vault was made with isn't where it was.
    fileprivate static func keyFileIsGone(_ path: String) -> StoreError {
        let shown = LoggableText(reviewed: "the path of a key file, which people name", unredacted: path)
        return StoreError(
            .locked, "the vault's key file \(shown) doesn't exist",
            hint: "\(Recovery.chooseKeyFile)")
    }

    /// Its key is kept in a keyring, and whoever opens it may be the keyring.
    fileprivate static var keyringIsNotAsked: StoreError {
        StoreError(
            .locked,
            "the vault's key is in a keyring, which can't be used here, because this vault may serve that keyring",
            hint: "add a key file or a passphrase to the vault")
    }

    /// The vault has no passphrase to ask for.
    fileprivate static func noKeyNamed(_ vault: LockedVault) -> StoreError {
        let hint: LogMessage =
            if vault.has(.keyFile) {
                "\(Recovery.chooseKeyFile)"
            } else if let name = vault.systemCredentials.first {
                "run the command in a systemd unit with LoadCredentialEncrypted=\(name):FILE"
            } else {
                "open the vault with the key that it was created with"
            }
        return StoreError(
            .locked, "the vault is locked: it has no passphrase, and no key file is set", hint: hint)
    }
}
