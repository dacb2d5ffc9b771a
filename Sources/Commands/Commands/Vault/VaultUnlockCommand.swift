internal import LatchkeyVault

/// `latchkey vault unlock [--for TIME]`.
enum VaultUnlockCommand {
    private static let time = CommandOption.value(
        "--for", "TIME", form: .timeSpan, help: "time from 1s to 7d, such as 90s, 15m, 8h or 1d (default: 15m)")
    private static let standard = Duration.seconds(15 * 60)

    static let command = Command(
        "vault", "unlock", summary: "keep the vault unlocked for a while",
        options: [time],
        details: """
            unlock stores the vault's key in the kernel's keyring of your user, where each of your processes can read it, until the
            time is over or you run `latchkey vault lock`. To prolong the time, run unlock again. Exits with 69 if the kernel refuses,
            as in many containers.
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
