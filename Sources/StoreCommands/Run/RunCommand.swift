internal import LatchkeyLog
package import LatchkeyTerminal

/// `latchkey run`: a program with secrets in its environment or in files.
///
/// With PROVIDER it is `latchkey-auth` that runs it; without, no network is needed.
package enum RunCommand {
    package static let variable = CommandOption.value(
        "--env", "NAME[=SERVICE/ACCOUNT]", form: .variable, repeats: true,
        help: "a variable with a stored secret; NAME alone is the token's variable (GITHUB_TOKEN for github, ...)")
    static let environmentFile = CommandOption.value(
        "--env-file", "FILE", repeats: true,
        help: "variables in lines NAME=VALUE; a VALUE latchkey://SERVICE/ACCOUNT is a stored secret")
    static let file = CommandOption.value(
        "--file", "NAME=SERVICE/ACCOUNT", form: .assignment, repeats: true,
        help: "a variable with the path of a file in memory that has a stored secret")
    static let mask = CommandOption.flag(
        "--mask", help: "show the program's output with these secrets replaced by ***")

    package static let definition = CommandDefinition(
        "run", topic: .programs, summary: "run a program with secrets in its environment, and nowhere else",
        operands: [
            .optional("PROVIDER", help: "whose access token it gets: a name from latchkey provider list"),
            .rest("COMMAND", help: "the program and its arguments; write -- before it"),
        ],
        options: [
            variable, environmentFile, file, mask, SignInDefinitions.account, SignInDefinitions.certificateAuthority,
        ],
        details: """
            With --env NAME=..., --env-file or --file, COMMAND stands behind --, and PROVIDER before it, if at all. Without
            them the first word is PROVIDER. The token's variable is GITHUB_TOKEN for github, GITLAB_TOKEN for gitlab, else
            LATCHKEY_TOKEN, or the NAME of an --env without SERVICE/ACCOUNT.

            SERVICE/ACCOUNT is divided at the last slash: %2F is a slash in ACCOUNT, and %25 a percent sign. When one
            secret isn't there, nothing is started.

            The program takes latchkey's place: it has its terminal and signals, and its exit status is the program's.
            A token is refreshed first when it has expired, and not again while the program runs. Whoever may read
            the program's environment, which is you and root, can read the secrets there. Latchkey's own variables, which
            lead to other keys, are not handed on. Of variables given twice the later one counts: files, then PROVIDER's
            token, then --env, then --file.

            --env-file: lines NAME=VALUE or export NAME=VALUE, comments behind #, values as they are or in quotes ('as it
            is', or "with \\n, \\r, \\t, \\", \\\\ and \\$"), which may go on in the next lines. Nothing is expanded. UTF-8,
            up to 1 MiB.

            --file: the path is readable, any number of times, by the program and what it starts, as long as the program
            runs; a container or another user has no such path. The file is never on a disk, but the memory may be
            swapped out like the program's own. For secrets with NUL bytes, or of more than 128 KiB, it is the only way.

            --mask: latchkey stays beside the program and replaces each secret that it was given in what it
            writes, line by line for secrets of several lines (of 4 bytes or more), and also in base64 or
            percent-encoded; what a program does to it otherwise isn't recognized. At a terminal the program has a
            terminal of its own with the same size; what goes to a pipe or a file stays one. Where a program stops in the
            midst of what may become a secret, up to half of it is shown after a moment, and the rest replaced.
            What the program leaves running in the background isn't shown after its end.
            """)

    static let command = Command(definition, startsPrograms: true, takes: { !RunRequest.hasProvider($0) }) {
        arguments, context in
        let request = try RunRequest(arguments)
        var program = try ChildProgram(request, context)
        let view = request.namesStoredSecrets ? try await context.openView() : nil
        try await program.take(request.fromFiles + request.fromOptions, from: view, context)
        throw program.start()
    }
}
