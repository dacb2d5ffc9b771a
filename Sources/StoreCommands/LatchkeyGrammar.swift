internal import LatchkeyLog
package import LatchkeyStoreSelection
package import LatchkeyTerminal

/// The whole command line of Latchkey, whichever of its programs runs a command.
package enum LatchkeyGrammar {
    package static let version: StaticString = "0.1.0"

    package static let program: StaticString = "latchkey"

    /// The commands, with the options that the stores of a catalogue add.
    package static func grammar(_ catalogue: StoreCatalogue) -> CommandGrammar {
        CommandGrammar(
            program: program, summary: "keeps sign-ins: secrets in a keyring or an encrypted vault, OAuth on top",
            version: version, globalOptions: GlobalOptions.all(catalogue),
            commands: SignInDefinitions.all + StoreCommandTable.all.map(\.definition),
            details: """
                environment:
                  LATCHKEY_STORE            as --store\(places(catalogue))
                  LATCHKEY_KEY_FILE         the file with the vault's key
                  LATCHKEY_PASSPHRASE_FILE  the file with the vault's passphrase
                  LATCHKEY_CONFIG           the configuration's folder
                  LATCHKEY_JOURNAL          the journal's socket, for --log-format journal
                  NO_COLOR, BROWSER         as everywhere
                  No variable holds a secret itself.
                """)
    }

    /// A line for each variable that says where a store is.
    private static func places(_ catalogue: StoreCatalogue) -> LogMessage {
        let lines = catalogue.backends.compactMap(\.place).map { place -> LogMessage in
            // As wide as the longest name.
            let spaces = [LogMessage](repeating: " ", count: max(1, 26 - place.variable.utf8CodeUnitCount))
            return "\n  \(place.variable)\(LogMessage.joined(spaces, separator: ""))as --\(place.word)"
        }
        return .joined(lines, separator: "")
    }
}
