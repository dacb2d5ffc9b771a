public import LatchkeyTerminal

/// A command: how it is called, and what it does.
///
/// What it throws ends the program with that error's message, hint and status.
public struct Command: Sendable {
    public let definition: CommandDefinition
    /// Whether it starts programs that are not Latchkey's.
    public let startsPrograms: Bool
    public let run: @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus

    public init(
        _ definition: CommandDefinition, startsPrograms: Bool = false,
        run: @escaping @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus
    ) {
        self.definition = definition
        self.startsPrograms = startsPrograms
        self.run = run
    }
}
