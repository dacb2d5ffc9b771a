internal import LatchkeySignIn
internal import LatchkeyCommandLine

/// `latchkey run`: a program with secrets in its environment or in files.
///
/// With PROVIDER the program gets its access token too.
enum RunCommand {
    static let variable = CommandOption.value(
        "--env", "NAME[=SERVICE/ACCOUNT]", form: .variable, repeats: true,
        help: "a variable with a stored secret; NAME alone is for PROVIDER's token")
    static let environmentFile = CommandOption.value(
        "--env-file", "FILE", repeats: true,
        help: "variables in lines NAME=VALUE; a VALUE latchkey://SERVICE/ACCOUNT is a stored secret")
    static let file = CommandOption.value(
        "--file", "NAME=SERVICE/ACCOUNT", form: .assignment, repeats: true,
        help: "a variable with the path of a file in memory that has a stored secret")
    static let mask = CommandOption.flag(
        "--mask", help: "show the program's output with these secrets replaced by ***")

    static let command = Command(
        "run", topic: .programs, summary: "run a program with secrets in its environment only",
        operands: [
            .optional("PROVIDER", help: "whose access token it gets: a name from latchkey provider list"),
            .rest("COMMAND", help: "the program and its arguments; write -- before it"),
        ],
        options: [
            variable, environmentFile, file, mask, SignInOptions.account, SignInOptions.certificateAuthority,
        ],
        details: """
            With --env NAME=..., --env-file or --file, COMMAND stands behind --, and PROVIDER before it, if at all; else the
            first word is PROVIDER. The token's variable is GITHUB_TOKEN for github, GITLAB_TOKEN for gitlab, else
            LATCHKEY_TOKEN. The last slash divides SERVICE/ACCOUNT: %2F is a slash in ACCOUNT, %25 a percent sign. When a
            secret isn't there, nothing is started. Of variables given twice the later one counts: files, then the token,
            then --env, then --file.

            The program replaces latchkey: it has its terminal and signals, and its exit status is the program's. A token is
            refreshed first when it has expired, and not again while the program runs. You and root can read the program's
            environment. Latchkey's own variables, which lead to other keys, are not handed on.

            --env-file: UTF-8, up to 1 MiB, with lines NAME=VALUE or export NAME=VALUE, and comments behind #. A value stands
            as it is, as 'it is', or in double quotes with \\n, \\r, \\t, \\", \\\\ and \\$. Nothing is expanded.

            --file: readable, any number of times, by the program and what it starts, while it runs; not in a container. It is
            never on a disk, but memory may be swapped out. Secrets with NUL bytes or of more than 128 KiB need it.

            --mask: Latchkey replaces the secrets that it passes on in the program's output: line by line (lines of 4 bytes
            or more), in base64 with or without line breaks, in hexadecimal, percent-encoded and in JSON. Other forms are
            shown. At a terminal the program has a terminal of its own; pipes stay pipes. If output pauses in the middle of
            what may become a secret, up to half of the secret is shown, at most 16 characters. Output of background
            programs isn't shown after the program's end.
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
        // One for all: a person is asked for a passphrase once.
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
        }
        try await program.take(request.fromOptions, from: view, context)
        throw program.start()
    }

    /// What the service's own tools read, or else `LATCHKEY_TOKEN`.
    private static func variable(of configuration: ProviderConfiguration) -> String {
        switch configuration.server {
        case .builtIn("github", _): "GITHUB_TOKEN"
        case .builtIn("gitlab", _): "GITLAB_TOKEN"
        default: "LATCHKEY_TOKEN"
        }
    }
}
