/// The whole command line of Latchkey.
package enum LatchkeyGrammar {
    package static let version: StaticString = "0.2.0"

    package static let program: StaticString = "latchkey"

    /// Commands, with the options that the stores of a catalogue add.
    package static func grammar(
        of commands: [Command] = CommandTable.all, _ catalogue: StoreCatalogue
    ) -> CommandGrammar {
        CommandGrammar(
            program: program, summary: "store secrets and OAuth sign-ins in your keyring or an encrypted vault",
            version: version, globalOptions: GlobalOptions.all(catalogue),
            commands: commands.map { $0.definition },
            introduction: introduction, groups: groups, aliases: aliases, synonyms: synonyms,
            pages: [
                .exitStatuses,
                HelpPage(
                    "environment", summary: "list the environment variables and files",
                    sections: [("environment", variables(catalogue)), ("files", files)]),
            ])
    }

    /// The jobs of every day.
    private static let introduction: StaticString = """
        Latchkey stores secrets and OAuth sign-ins in your keyring or an encrypted vault.

          store a secret          latchkey set example.org alice
          use the secret          latchkey get example.org alice
          list stored secrets     latchkey list
          sign in at a service    latchkey sign-in mastodon --host mastodon.social
          send a request          latchkey request mastodon /api/v1/timelines/home
          check the set-up        latchkey doctor

        Run `latchkey help` for more commands, and `latchkey help COMMAND` to read about a command.
        """

    private static func variables(_ catalogue: StoreCatalogue) -> [(name: LogMessage, meaning: LogMessage)] {
        [("LATCHKEY_STORE", "same as --store")]
            + catalogue.backends.compactMap(\.place).map { ("\($0.variable)", "same as --\($0.word)") }
            + [
                ("LATCHKEY_KEY_FILE", "path of the vault's key file"),
                ("LATCHKEY_PASSPHRASE_FILE", "path of a file that contains the vault's passphrase"),
                ("LATCHKEY_CONFIG", "directory of the configuration"),
                ("LATCHKEY_JOURNAL", "socket of the journal, for --log-format journal"),
                (
                    "CREDENTIALS_DIRECTORY",
                    "directory of a unit's credentials, set by systemd; a credential there may open a vault"
                ),
                (
                    "PGPASSFILE, PGSSLROOTCERT",
                    "a database's password and certificate authority, as libpq documents them"
                ),
                ("VISUAL, EDITOR", "editor for latchkey edit, with its arguments"),
                ("BROWSER", "browsers to try, separated by colons; %s is replaced with the address"),
                ("http_proxy, https_proxy, no_proxy", "proxies; never used for loopback addresses"),
                ("NO_COLOR, COLUMNS", "no colour if set; width of help and tables"),
            ]
    }

    private static let files: [(name: LogMessage, meaning: LogMessage)] = [
        (
            "$XDG_CONFIG_HOME/latchkey/config",
            "lines `name = value`: store, vault, collection, all-stores, key-file, passphrase-file"
        ),
        ("$XDG_CONFIG_HOME/latchkey/providers", "servers to sign in at, without secrets"),
        ("$XDG_DATA_HOME/latchkey/vault", "default vault"),
        ("$XDG_STATE_HOME/latchkey", "store in use, and the last seen state of each vault"),
    ]
}

extension LatchkeyGrammar {
    private static let groups: [CommandGroup] = [
        CommandGroup(
            "vault", summary: "create, unlock, back up and check the encrypted vault",
            about: """
                A vault stores secrets and sessions encrypted in a file, or in a PostgreSQL database for several hosts. A \
                passphrase, a key file, a systemd credential or a key in the desktop's keyring opens it.
                """),
        CommandGroup(
            "keyring", summary: "provide a keyring, backed by the vault, to other programs",
            about: """
                Latchkey can be the keyring (Secret Service) of programs such as gh, Chromium and secret-tool. Their secrets \
                are then stored in the vault.
                """),
        CommandGroup(
            "config", summary: "read and change the configuration",
            about: """
                The configuration is a file that says which store Latchkey uses, and where the vault and its key are. Options \
                and environment variables come before the configuration.
                """),
        CommandGroup(
            "provider", summary: "add and remove servers to sign in at",
            about: """
                A provider is a server to sign in at, with your client ID there. `latchkey sign-in` adds a provider by \
                itself, so most people don't need these commands.
                """),
        CommandGroup(
            "scheme", summary: "let the desktop pass on responses for a private-use scheme",
            about: """
                Some servers redirect the browser to an address with a scheme of its own, such as com.example.app:/callback. \
                These commands register Latchkey for such a scheme with the desktop.
                """),
        CommandGroup(
            "helper", summary: "answer git and other tools that ask for credentials",
            about: """
                Other tools run these commands to get a credential. Run `latchkey setup TOOL` to configure a tool for you.
                """),
    ]

    /// Other programs' names for Latchkey's commands, which work too.
    private static let aliases: [(word: StaticString, command: StaticString)] = [
        ("ls", "list"), ("rm", "delete"), ("show", "get"), ("login", "sign-in"), ("logout", "sign-out"),
    ]

    /// More names from other programs. They are answered with our command's name: one name for one thing in scripts.
    ///
    /// The second word of a command alone, such as `init`, needs no line here.
    static let synonyms: [(word: StaticString, command: StaticString)] = [
        ("add", "set"), ("save", "set"), ("store", "set"), ("put", "set"), ("insert", "set"), ("new", "set"),
        ("cat", "get"), ("read", "get"), ("lookup", "get"), ("print", "get"), ("open", "get"),
        ("remove", "delete"), ("del", "delete"), ("erase", "delete"), ("clear", "delete"),
        ("find", "search"), ("grep", "search"),
        ("mv", "rename"), ("cp", "copy"),
        ("signin", "sign-in"), ("auth", "sign-in"), ("logon", "sign-in"),
        ("signout", "sign-out"), ("logoff", "sign-out"),
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
