internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySystem
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// Tells a person who is asked for a passphrase for the first time how not to be asked each time.
struct UnlockHint: Sendable {
    /// An empty file: it was said.
    private let mark: String
    private let isOfUse: Bool

    /// - Parameter command: the one that may ask. Whoever unlocks the vault, or is to prove the passphrase, needs no hint.
    init(_ environment: ProgramEnvironment, command: String) {
        mark = environment.stateDirectory + "/unlock-hint"
        isOfUse = !["vault unlock", "vault passwd"].contains(command)
    }

    /// Where it can't be remembered that it was said, it is said again.
    func giveOnce(_ prompt: SecretPrompt) {
        guard isOfUse, prompt.isPossible, unsafe access(mark, F_OK) != 0,
            (try? VaultStore.checkUnlocking()) != nil
        else { return }
        try? prompt.show("`latchkey vault unlock` asks once, and then the vault opens for a while without asking.")
        try? PrivateFile.replace(mark, with: "")
    }
}
