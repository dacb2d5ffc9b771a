package import LatchkeyTerminal

/// The commands that other tools start to ask for credentials. They are defined here, so that every program's help and
/// completions know them.
package enum HelperDefinitions {
    package static let git = CommandDefinition(
        "helper", "git", summary: "answer git, as git-credential-latchkey",
        operands: [.optional("VERB", help: "get, store, erase or capability")],
        details: """
            A credential helper of gitcredentials(7): git config --global credential.helper latchkey has git call it. What
            git stores is kept under git:PROTOCOL://HOST, as latchkey import --from git has it. Where nothing is stored
            for a host, and a session's token may go there, that is the answer, refreshed when it has expired. A session
            is never erased by it.

            Exit status 0: answered, or there is nothing.
            """)

    package static let all = [git]

    /// The helpers by the names that they can be called by, as links to latchkey.
    package static let programs: [(name: StaticString, command: CommandDefinition)] = [
        ("git-credential-latchkey", git)
    ]
}

extension CommandDefinition {
    /// Whether another program asks, which can't answer questions.
    package var isHelper: Bool { words[0].description == "helper" }
}
