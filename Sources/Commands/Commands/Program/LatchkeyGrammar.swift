package import LatchkeyCommandLine
internal import LatchkeyLog
package import LatchkeyStoreSelection

/// The whole command line of Latchkey.
package enum LatchkeyGrammar {
    package static let version: StaticString = "0.1.0"

    package static let program: StaticString = "latchkey"

    /// Commands, with the options that the stores of a catalogue add.
    package static func grammar(
        of commands: [Command] = CommandTable.all, _ catalogue: StoreCatalogue
    ) -> CommandGrammar {
        CommandGrammar(
            program: program, summary: "keeps sign-ins: secrets in a keyring or an encrypted vault, OAuth on top",
            version: version, globalOptions: GlobalOptions.all(catalogue),
            commands: commands.map { $0.definition },
            introduction: introduction, synonyms: synonyms,
            pages: [
                .exitStatuses,
                HelpPage(
                    "environment", summary: "lists the variables and files that are read",
                    sections: [("environment", variables(catalogue)), ("files", files)]),
            ])
    }

    /// The jobs of every day.
    private static let introduction: StaticString = """
        latchkey keeps sign-ins: secrets in a keyring or an encrypted vault, OAuth on top.

          save a secret             latchkey set example.org alice
          use it                    latchkey get example.org alice
          see what there is         latchkey list
          sign in at a service      latchkey sign-in mastodon --host mastodon.social
          send a request with it    latchkey request mastodon /api/v1/timelines/home
          see whether all is well   latchkey doctor

        latchkey help lists all commands; latchkey help COMMAND explains one, with examples.
        """

    private static func variables(_ catalogue: StoreCatalogue) -> [(name: LogMessage, meaning: LogMessage)] {
        [("LATCHKEY_STORE", "as --store")]
            + catalogue.backends.compactMap(\.place).map { ("\($0.variable)", "as --\($0.word)") }
            + [
                ("LATCHKEY_KEY_FILE", "the file with the vault's key"),
                ("LATCHKEY_PASSPHRASE_FILE", "the file with the vault's passphrase"),
                ("LATCHKEY_CONFIG", "the configuration's folder"),
                ("LATCHKEY_JOURNAL", "the journal's socket, for --log-format journal"),
                ("CREDENTIALS_DIRECTORY", "where systemd puts a unit's credentials, which open a vault"),
                ("PGPASSFILE, PGSSLROOTCERT", "libpq's own: a database's password, and its authority"),
                ("VISUAL, EDITOR", "the editor of latchkey edit, with arguments where it needs some"),
                ("BROWSER", "browsers to try, separated by colons; %s stands for the address"),
                ("http_proxy, https_proxy, no_proxy", "proxies, but for loopback addresses"),
                ("NO_COLOR, COLUMNS", "as everywhere"),
                ("", "No variable holds a secret itself."),
            ]
    }

    private static let files: [(name: LogMessage, meaning: LogMessage)] = [
        (
            "$XDG_CONFIG_HOME/latchkey/config",
            "lines `name = value`: store, vault, collection, all-stores, key-file, passphrase-file"
        ),
        ("$XDG_CONFIG_HOME/latchkey/providers", "the servers to sign in at, without secrets"),
        ("$XDG_DATA_HOME/latchkey/vault", "the vault, where no other path is named"),
        ("$XDG_STATE_HOME/latchkey", "which store is used, and how far each vault was seen"),
    ]
}

extension LatchkeyGrammar {
    /// What people call our commands who know other programs' names for them. They are answered with the command, and
    /// not taken for it: one name for one thing in scripts.
    ///
    /// The second word of a command alone, such as `init`, needs no line here.
    static let synonyms: [(word: StaticString, command: StaticString)] = [
        ("add", "set"), ("save", "set"), ("store", "set"), ("put", "set"), ("insert", "set"), ("new", "set"),
        ("show", "get"), ("cat", "get"), ("read", "get"), ("lookup", "get"), ("print", "get"), ("open", "get"),
        ("rm", "delete"), ("remove", "delete"), ("del", "delete"), ("erase", "delete"), ("clear", "delete"),
        ("ls", "list"), ("find", "search"), ("grep", "search"),
        ("mv", "rename"), ("cp", "copy"),
        ("login", "sign-in"), ("signin", "sign-in"), ("auth", "sign-in"), ("logon", "sign-in"),
        ("logout", "sign-out"), ("signout", "sign-out"), ("logoff", "sign-out"),
        ("whoami", "accounts"), ("users", "accounts"), ("switch", "use"), ("select", "use"),
        ("api", "request"), ("curl", "request"), ("exec", "run"), ("with", "run"),
        ("create", "vault init"), ("backup", "vault export"), ("restore", "vault import"),
        ("status", "doctor"), ("check", "doctor"), ("providers", "provider list"), ("completion", "completions"),
        ("vault create", "vault init"), ("vault open", "vault unlock"), ("vault close", "vault lock"),
        ("vault check", "vault verify"), ("vault backup", "vault export"), ("vault restore", "vault import"),
        ("vault list", "vault slots"), ("vault keys", "vault slots"),
        ("provider ls", "provider list"), ("provider rm", "provider remove"), ("provider delete", "provider remove"),
        ("provider new", "provider add"), ("scheme ls", "scheme list"), ("scheme rm", "scheme remove"),
    ]
}
