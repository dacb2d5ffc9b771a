internal import Glibc
internal import LatchkeyVault

/// `latchkey vault new-key`.
enum VaultNewKeyCommand {
    static let command = Command(
        "vault", "new-key", summary: "write a new random key to a pipe, for systemd-creds",
        details: """
            The key has 32 bytes. new-key writes it to a pipe only, so that it appears on no screen and on no disk.
            """,
        examples: ["latchkey vault new-key | systemd-creds encrypt --name=latchkey - latchkey.cred"]
    ) { _, context in
        try requirePipe(1)
        let key = try mapError(
            { (error: RandomSourceError) in
                CommandFailure(.internalError, "random.refused", "\(error)")
            }, of: Secret<PrivateKey>.random(byteCount: SystemCredential.byteCount))
        try context.output.write(secret: key)
        return .success
    }

    /// A key on a screen or in a file is one that others find.
    private static func requirePipe(_ descriptor: Int32) throws(CommandFailure) {
        var status = stat()
        let kind = unsafe fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
        guard kind == S_IFIFO || kind == S_IFSOCK else {
            throw CommandFailure(
                .refused, "key.no-pipe", "standard output isn't a pipe",
                hint: "pipe the key to systemd-creds: latchkey vault new-key | systemd-creds encrypt --name=NAME - FILE"
            )
        }
    }
}
