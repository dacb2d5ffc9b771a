package import LatchkeyTerminal

/// The whole command line of Latchkey, whichever of its programs runs a command.
package enum LatchkeyGrammar {
    package static let version: StaticString = "0.1.0"

    package static let grammar = CommandGrammar(
        program: "latchkey", summary: "keeps sign-ins: secrets in a keyring or an encrypted vault, OAuth on top",
        version: version, globalOptions: GlobalOptions.all,
        commands: SignInDefinitions.all + StoreCommandTable.all.map(\.definition),
        details: """
            environment:
              LATCHKEY_STORE            as --store
              LATCHKEY_VAULT            as --vault
              LATCHKEY_COLLECTION       as --collection
              LATCHKEY_KEY_FILE         the file with the vault's key
              LATCHKEY_PASSPHRASE_FILE  the file with the vault's passphrase
              LATCHKEY_CONFIG           the configuration's folder
              LATCHKEY_JOURNAL          the journal's socket, for --log-format journal
              NO_COLOR, BROWSER         as everywhere
              No variable holds a secret itself.
            """)
}
