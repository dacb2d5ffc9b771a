internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// `latchkey vault unlock [--for TIME]`.
enum VaultUnlockCommand {
    private static let time = CommandOption.value(
        "--for", "TIME", form: .timeSpan, help: "how long, from 1s to 7d, such as 90s, 15m, 8h or 1d (15m)")
    private static let standard = Duration.seconds(15 * 60)

    static let command = Command(
        "vault", "unlock", summary: "let this user's processes open a vault for a while without asking",
        options: [time],
        details: """
            Its key stays in the kernel's keyring of this user, where every process of the user can read it, until the
            time is over or latchkey vault lock takes it away. It is no use where another key is named. Exit status 69:
            the kernel refuses, as in many containers; everything else works without. To prolong the time, run it again: it
            takes the key again.
            """,
        examples: ["latchkey vault unlock --for 8h"]
    ) { arguments, context in
        // Before a person types a passphrase.
        try VaultStore.checkUnlocking()
        var settings = context.settings
        if case .search(var search) = settings.vaultKey {
            // Whoever prolongs the time shows again that the vault is theirs.
            search.takesUnlocked = false
            settings.vaultKey = .search(search)
        }
        let span = arguments.timeSpan(time) ?? standard
        let vault = try await settings.openVault()
        try vault.keepUnlocked(for: span)
        context.output.note("unlocked \(vault.identity) for \(span.inWords)")
        return .success
    }
}
