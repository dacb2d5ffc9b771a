internal import LatchkeySignIn

/// `latchkey run`: a program with secrets in its environment or in files.
///
/// With PROVIDER the program gets its access token too.
enum RunCommand {
    static let variable = CommandOption.value(
        "--env", "NAME[=SERVICE/ACCOUNT]", form: .variable, repeats: true,
        help: "variable for a stored secret; NAME alone sets the variable of PROVIDER's token")
    static let environmentFile = CommandOption.value(
        "--env-file", "FILE", repeats: true,
        help: "file of NAME=VALUE lines; a VALUE of latchkey://SERVICE/ACCOUNT is a stored secret")
    static let file = CommandOption.value(
        "--file", "NAME=SERVICE/ACCOUNT", form: .assignment, repeats: true,
        help: "variable for the path of a file in memory that contains a stored secret")
    static let mask = CommandOption.flag(
        "--mask", help: "replace the secrets in the program's output with ***")

    static let command = Command(
        "run", topic: .programs, summary: "run a program with secrets in its environment only",
        operands: [
            .optional("PROVIDER", help: "provider whose access token the program gets"),
            .rest("COMMAND", help: "program and its arguments; write -- before them"),
        ],
        options: [
            variable, environmentFile, file, mask, SignInOptions.account, SignInOptions.certificateAuthority,
        ],
        details: """
            Put `--` before COMMAND. PROVIDER, if given, comes before `--`. The token's variable is GITHUB_TOKEN for github, GITLAB_TOKEN
            for gitlab, otherwise LATCHKEY_TOKEN. run uses the service's only account if ACCOUNT is omitted. The last slash divides SERVICE
            and ACCOUNT: write %2F for a slash in ACCOUNT, and %25 for a percent sign.

            If a secret is missing, run doesn't start COMMAND. If a variable is set twice, --file wins over --env, --env over the token,
            and the token over --env-file.

            COMMAND replaces Latchkey and keeps its terminal, signals and exit status. run refreshes an expired token before the start,
            but not later. You and root can read the environment of COMMAND. Latchkey's own variables aren't passed on.

              --env-file  UTF-8, up to 1 MiB, with lines NAME=VALUE or export NAME=VALUE, and comments after #. Values are verbatim, in single quotes, or in double quotes with \\n, \\r, \\t, \\", \\\\ and \\$. Nothing is expanded.
              --file      COMMAND and its children can read the file until COMMAND ends; not in a container. The file is in memory, which may be swapped out. Use --file for secrets with NUL bytes or of 128 KiB and more.
              --mask      replaces the secrets in the standard output and error of COMMAND, not in files or on /dev/tty: plain (lines of 4 bytes or more, without the blanks around them), in base64, in hexadecimal, percent-encoded and in JSON. Other encodings aren't masked. If the output pauses inside a secret, up to half of it, at most 16 characters, may be shown.
            """,
        examples: [
            "latchkey run --env PGPASSWORD=db.example.org/ada -- psql -h db.example.org",
            "latchkey run --env-file .env --mask -- make deploy",
            "latchkey run --file KEY=deploy/ada -- sh -c 'ssh -i \"$KEY\" example.org'",
            "latchkey run github -- gh api user", "latchkey run work --env TOKEN -- make deploy",
        ],
        // The token may have to be refreshed, which a signal doesn't cut off.
        runs: { RunRequest.hasProvider($0) ? .pool : .oneThread }, usesNetwork: true, startsPrograms: true
    ) { arguments, context in
        let request = try RunRequest(arguments)
        let configuration = try request.provider.map(context.configuration(named:))
        var program = try ChildProgram(request, context)
        // All secrets share one view, so that the person enters a passphrase only once.
        let view = request.namesStoredSecrets || configuration != nil ? try await context.openView() : nil
        try await program.take(request.fromFiles, from: view, context)
        if let configuration {
            let account = arguments.value(SignInOptions.account)
            let token = try await context.explaining(configuration, account: account) {
                let service = try await context.service(configuration, arguments, in: view)
                return try await service.settling {
                    try await service.accessToken(for: account, deadline: context.deadline)
                }
            }
            try program.take(token, as: request.tokenVariable ?? variable(of: configuration))
            if configuration.usesDPoP { context.output.note(TokenCommand.bound) }
        }
        try await program.take(request.fromOptions, from: view, context)
        throw program.start()
    }

    /// The variable of the service's own tools, otherwise `LATCHKEY_TOKEN`.
    private static func variable(of configuration: ProviderConfiguration) -> String {
        switch configuration.server {
        case .builtIn("github", _): "GITHUB_TOKEN"
        case .builtIn("gitlab", _): "GITLAB_TOKEN"
        default: "LATCHKEY_TOKEN"
        }
    }
}
