package import LatchkeyCredentials
package import LatchkeyLog
package import LatchkeyProcess
internal import LatchkeyVault

/// How people say where a store is. Whoever names a place chooses its store as well.
package struct StorePlace: Sendable {
    /// The name on the command line and in the configuration file, such as `vault`.
    package let word: StaticString
    /// The placeholder of the value in the help, such as `PATH`.
    package let placeholder: StaticString
    /// The environment variable, such as `LATCHKEY_VAULT`.
    package let variable: StaticString
    package let help: StaticString
    /// The noun for messages: `a vault`.
    package let noun: StaticString

    package init(
        word: StaticString, placeholder: StaticString, variable: StaticString, help: StaticString, noun: StaticString
    ) {
        self.word = word
        self.placeholder = placeholder
        self.variable = variable
        self.help = help
        self.noun = noun
    }
}

extension StoreCatalogue {
    /// The locations that the environment sets, by store name.
    package func places(in environment: ProgramEnvironment) -> [String: String] {
        places { backend in backend.place.flatMap { environment[$0.variable.description] } }
    }

    /// The locations that a source sets, by store name.
    package func places(_ value: (StoreBackend) -> String?) -> [String: String] {
        backends.reduce(into: [:]) { $0[$1.name.description] = value($1) }
    }
}

/// A finding of a backend for `latchkey doctor`. Every part may be pasted into a public issue.
package struct StoreFinding: Sendable {
    package enum State: Sendable {
        case good
        /// Worth knowing, but nothing to fix.
        case note
        /// Wrong where the store is the one that is used.
        case problem(StoreError.Code)
    }

    package let state: State
    package let text: LogMessage
    /// The command or action that fixes the problem.
    package let remedy: LogMessage?

    package init(_ state: State, _ text: LogMessage, remedy: LogMessage? = nil) {
        self.state = state
        self.text = text
        self.remedy = remedy
    }
}

/// The location of a vault as a user writes it: a path, made absolute, or a database's URI.
package enum VaultLocation {
    /// An address is returned unchanged: opening refuses what isn't a database's URI, or has a password in it.
    package static func of(_ text: String) -> String {
        isDatabase(text) ? text : AbsolutePath.of(text)
    }

    package static func isDatabase(_ text: String) -> Bool { VaultStore.isDatabase(text) }

    /// As `of(_:)`, but throws `unsupported` for an address that isn't a database's URI or contains a password, because
    /// messages show the address.
    package static func checked(_ text: String) throws(StoreError) -> String {
        try VaultStore.checkAddress(text)
        return of(text)
    }
}
