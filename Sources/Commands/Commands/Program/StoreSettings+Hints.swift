internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeySecretService
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

extension StoreSettings {
    /// A command's error with a hint that knows how the store was named, and what the session has.
    package func explained(_ error: any Error) -> any Error {
        if let error = error as? StoreError { return explained(error) ?? error }
        guard let refusal = (error as? StoreSelectionError)?.storeError else { return error }
        // The selector names other stores for one that was used before, and nowhere else.
        return explained(refusal, wasUsed: refusal.recoveries.contains(.chooseStore)) ?? refusal
    }

    /// - Parameter wasUsed: whether it is the error of the store in use. `nil` where there is nothing to add.
    func explained(_ error: StoreError, wasUsed: Bool = false) -> CommandFailure? {
        hint(for: error, wasUsed: wasUsed).map { CommandFailure(error, hint: $0) }
    }

    private func hint(for error: StoreError, wasUsed: Bool) -> LogMessage? {
        // A vault that was named, or was there before, may have been moved or lost: a new one has nothing in it.
        if error.code == .unavailable, error.recoveries.contains(.createVault) {
            let restore: LogMessage = "`latchkey vault import` brings a backup into it"
            if places["vault"] != nil {
                let path = LoggableText(reviewed: "the path of the vault", unredacted: vaultPath)
                // A shell takes `&` for itself.
                let place: LogMessage = VaultLocation.isDatabase(vaultPath) ? "'\(path)'" : "\(path)"
                return "check the path, or make a vault with `latchkey vault init --vault \(place)`; \(restore)"
            }
            return wasUsed ? "put it back, or make a vault with `latchkey vault init`; \(restore)" : nil
        }
        let isLockedKeyring = [.keyringLocked, .keyringStaysLocked, .keyringPromptDismissed].contains(error)
        return isLockedKeyring && !hasDisplay ? Self.unlockingWithoutDisplay : nil
    }

    /// How a keyring is unlocked where nothing can ask for its password.
    static let unlockingWithoutDisplay: LogMessage =
        """
        unlock it without a display with `gnome-keyring-daemon --unlock`, which reads the password from standard input; \
        or use a vault: --store vault
        """
}
