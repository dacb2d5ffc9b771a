internal import Glibc
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeySystem
internal import LatchkeyCommandLine
internal import LatchkeyVault

/// `latchkey vault new-key`.
enum VaultNewKeyCommand {
    static let command = Command(
        "vault", "new-key", summary: "write a new random key to a pipe, for systemd-creds",
        details: """
            It is 32 bytes, and only goes into a pipe, so that it is on no screen and no disk in the open.
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
                .refused, "key.no-pipe", "standard output is no pipe, and a key is shown or kept nowhere else",
                hint: "pipe it on: latchkey vault new-key | systemd-creds encrypt --name=NAME - FILE")
        }
    }
}
