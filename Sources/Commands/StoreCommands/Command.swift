package import LatchkeyLog
package import LatchkeyTerminal

/// A command: how it is called, and what it does.
///
/// What it throws ends the program with that error's message, hint and status.
package struct Command: Sendable {
    package let definition: CommandDefinition
    /// Whether it starts programs that are not Latchkey's.
    package let startsPrograms: Bool
    /// Says what went wrong in another program's words; `nil` where a person reads it.
    package let reportsError: (@Sendable (any RedactedError, TerminalOutput) -> ExitStatus)?
    /// Whether it is the one for these arguments, where two commands share a definition.
    package let takes: @Sendable (ParsedArguments) -> Bool
    package let run: @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus

    package init(
        _ definition: CommandDefinition, startsPrograms: Bool = false,
        reportsError: (@Sendable (any RedactedError, TerminalOutput) -> ExitStatus)? = nil,
        takes: @escaping @Sendable (ParsedArguments) -> Bool = { _ in true },
        run: @escaping @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus
    ) {
        self.definition = definition
        self.startsPrograms = startsPrograms
        self.reportsError = reportsError
        self.takes = takes
        self.run = run
    }
}
