internal import Glibc
package import LatchkeyCredentials
internal import LatchkeyLog
package import LatchkeyVault

/// Finds a key for a vault if no option sets one: the key that `vault unlock` left in the kernel, otherwise the keys
/// that the vault has a slot for: a credential from systemd, the remembered key files, a key in the desktop's keyring, a
/// passphrase that the user enters.
///
/// The search skips a missing key and logs that. A key that exists and can't be trusted, such as a credential that
/// other users can read, is an error.
package struct VaultKeySearch: Sendable {
    /// Whether the kernel's key may be used. `vault unlock` sets `false`, so that only another key can prolong the time.
    package var takesUnlocked = true
    /// Whether a key stored in the keyring may be used.
    package var asksKeyring = true
    /// The value of `$CREDENTIALS_DIRECTORY`.
    package let credentialsDirectory: String?
    /// Where the key files of vaults are remembered.
    let keyFiles: RememberedKeyFiles?
    /// The path of a key file that is tried after those: the one that is set for another vault.
    package var otherKeyFile: String?
    /// Asks the person for the passphrase. It throws `locked` or `promptDismissed` when no answer comes.
    package let ask: PassphrasePrompt

    package init(
        credentialsDirectory: String?, keyFiles: RememberedKeyFiles? = nil, ask: @escaping PassphrasePrompt
    ) {
        self.credentialsDirectory = credentialsDirectory
        self.keyFiles = keyFiles
        self.ask = ask
    }

    /// Creates a search that asks no question.
    package init(credentialsDirectory: String?, keyFiles: RememberedKeyFiles? = nil) {
        self.init(credentialsDirectory: credentialsDirectory, keyFiles: keyFiles) { (_) throws(StoreError) in
            throw StoreError(.locked, "can't ask for the vault's passphrase: questions are forbidden")
        }
    }

    /// The same search without a question.
    package var askingNobody: VaultKeySearch {
        var search = VaultKeySearch(credentialsDirectory: credentialsDirectory, keyFiles: keyFiles)
        search.asksKeyring = asksKeyring
        search.otherKeyFile = otherKeyFile
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
        // The error of the newest file helps most.
        var first: StoreError?
        for path in keyFiles?.paths(forVault: vault.identifier) ?? [] where vault.has(.keyFile) {
            var this: StoreError?
            let opened = try await tried(vault, settings, .info, "a remembered key file", &this) {
                () throws(StoreError) -> VaultKeySource in
                guard unsafe access(path, F_OK) == 0 else { throw .keyFileIsGone(path, vault) }
                return .keyFile(path)
            }
            if let opened { return opened }
            first = first ?? this
        }
        if refusal?.code != .wrongKey { refusal = first ?? refusal }
        // This key file may be another vault's, so its error isn't reported.
        if let otherKeyFile, vault.has(.keyFile),
            let opened = try? await settings.unlock(vault, with: .keyFile(otherKeyFile))
        {
            return opened
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

    /// The number of times that the user may enter a passphrase.
    package static let attemptCount = 3

    /// Opens the vault only with a passphrase that the user enters, who may mistype it twice.
    ///
    /// - Parameter refusal: the error to throw if the user can't be asked, if that error is more helpful.
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
    fileprivate static func keyFileIsGone(_ path: String, _ vault: LockedVault) -> StoreError {
        let shown = LoggableText(reviewed: "the path of a key file, which people name", unredacted: path)
        return StoreError(
            .locked, "the vault's key file \(shown) doesn't exist",
            hint: vault.has(.passphrase)
                ? "\(Recovery.chooseKeyFile), or open the vault with its passphrase" : "\(Recovery.chooseKeyFile)")
    }

    /// The vault's key is in a keyring, and the process that opens the vault may be that keyring.
    fileprivate static var keyringIsNotAsked: StoreError {
        StoreError(
            .locked,
            "the vault's key is in a keyring, which can't be used here, because this vault may serve that keyring",
            hint: "add a key file or a passphrase to the vault")
    }

    /// The vault lacks a passphrase to ask for.
    fileprivate static func noKeyNamed(_ vault: LockedVault) -> StoreError {
        let (cause, hint): (LogMessage, LogMessage) =
            if vault.has(.keyFile) {
                ("it has no passphrase, and no key file is set", "\(Recovery.chooseKeyFile)")
            } else if let name = vault.systemCredentials.first {
                (
                    "it opens with the systemd credential \(name)",
                    "run the command in a systemd unit with LoadCredentialEncrypted=\(name):FILE"
                )
            } else {
                ("it has no passphrase and no key file", "open the vault with the key that it was created with")
            }
        return StoreError(.locked, "the vault is locked: \(cause)", hint: hint)
    }
}
