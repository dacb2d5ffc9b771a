internal import Glibc
internal import LatchkeySecretService
internal import LatchkeyVault

extension StoreSettings {
    /// A command's error with a hint that depends on the choice of the store and on the session.
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
        // A vault that was set or used before may have been moved or lost; a new one would be empty.
        if error.code == .unavailable, error.recoveries.contains(.createVault) {
            if places["vault"] != nil {
                let path = CredentialName.word(vaultPath)
                let place: LogMessage = VaultLocation.isDatabase(vaultPath) ? "address" : "path"
                return
                    "check the \(place), or run `latchkey vault init --vault \(path)` (with a backup: `latchkey vault import FILE --vault \(path)`)"
            }
            return wasUsed
                ? "move the vault back, or run `latchkey vault init` (with a backup: `latchkey vault import FILE`)"
                : nil
        }
        let isLockedKeyring = [.keyringLocked, .keyringStaysLocked, .keyringPromptDismissed].contains(error)
        return isLockedKeyring && !hasDisplay ? Self.unlockingWithoutDisplay : nil
    }

    /// How a keyring is unlocked where nothing can ask for its password.
    static let unlockingWithoutDisplay: LogMessage =
        """
        unlock gnome-keyring in bash: `read -rsp Password: P; printf %s "$P" | gnome-keyring-daemon --replace --unlock; unset P`; \
        unlock Latchkey's own keyring with `latchkey vault unlock`; or add --store vault
        """
}

extension CommandContext {
    /// Throws the error, unless the command stores something and the person agrees to a new vault. The error of a
    /// machine without any store gets the command that creates a vault as its hint.
    func vaultOrThrow(_ error: StoreSelectionError) async throws -> any CredentialStore {
        guard error.isNothingSetUp else { throw error }
        let keyFile = configurationFolder + "/vault.key"
        let failure = CommandFailure(
            error, hint: "run `latchkey vault init --key-file \(CredentialName.word(keyFile))`")
        guard offersVault, prompt.isPossible else { throw failure }
        try prompt.show("No secret store is set up: no keyring is available, and no vault exists.")
        let question: LogMessage = "Create an encrypted vault, opened by a key file (k) or a passphrase (p)? [k/p/N]"
        let answer = try prompt.ask(question, as: MessageBody.self, limit: 64, isShown: true)
        func isAnswer(_ letters: String...) -> Bool { letters.contains { answer.matches($0.utf8.span) } }
        if isAnswer("k", "K") {
            return try await createVault(unlockedBy: keyOfNewVault(file: keyFile), remembering: keyFile)
        }
        guard isAnswer("p", "P") else { throw failure }
        return try await createVault(unlockedBy: keyOfNewVault(file: nil), remembering: nil)
    }
}

extension StoreError {
    /// Turns an unanswered question into the error of the store that needed the answer.
    ///
    /// - Parameter locked: what needs the answer, such as that the vault is locked.
    init(prompt error: PromptError, locked: LogMessage, otherwise: LogMessage) {
        let code: Code =
            switch error.problem {
            case .forbidden, .noTerminal, .failed: .locked
            case .dismissed: .promptDismissed
            case .interrupted: .cancelled
            case .tooLong, .different: .wrongKey
            case .timedOut: .timedOut
            }
        let cause: LogMessage =
            switch error.problem {
            case .forbidden, .noTerminal, .failed: "\(locked): \(error.cause)"
            default: error.cause
            }
        self.init(code, cause, hint: error.hint(otherwise: otherwise))
    }
}

extension PromptError {
    /// - Parameter otherwise: the way to pass the answer without a question, for the hint.
    func hint(otherwise: LogMessage) -> LogMessage? {
        switch problem {
        case .forbidden: "run the command without --no-prompt, or \(otherwise)"
        case .noTerminal: "run the command in a terminal, or \(otherwise)"
        default: hint
        }
    }
}

extension CommandFailure {
    /// - Parameter otherwise: the way to pass the answer without a question, for the hint.
    init(_ error: PromptError, otherwise: LogMessage) {
        self.init(error, hint: error.hint(otherwise: otherwise))
    }
}

/// Tells a person at the first question for a passphrase how to avoid the question.
struct UnlockHint: Sendable {
    /// An empty file, which marks that the hint was shown.
    private let mark: String
    private let isOfUse: Bool
    private let output: TerminalOutput

    /// - Parameter command: the one that may ask. Whoever unlocks the vault, or is to prove the passphrase, needs no
    ///   hint.
    init(_ environment: ProgramEnvironment, command: String, output: TerminalOutput) {
        mark = environment.stateDirectory + "/unlock-hint"
        self.output = output
        isOfUse = !["vault unlock", "vault passwd"].contains(command)
    }

    /// If the mark can't be written, the hint is shown again.
    func giveOnce(_ prompt: SecretPrompt) {
        guard isOfUse, prompt.isPossible, unsafe access(mark, F_OK) != 0,
            (try? VaultStore.checkUnlocking()) != nil
        else { return }
        let hint = output.words(of: "To be asked less often, run `latchkey vault unlock`.")
        try? prompt.show("\(LoggableText(reviewed: "the hint, with the path of --vault", unredacted: hint))")
        try? PrivateFile.replace(mark, with: "")
    }
}
