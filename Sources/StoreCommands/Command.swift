public import Terminal

/// A command: how it is called, and what it does.
///
/// What it throws ends the program with that error's message, hint and status.
public struct Command: Sendable {
    public let definition: CommandDefinition
    public let run: @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus

    public init(
        _ definition: CommandDefinition,
        run: @escaping @Sendable (ParsedArguments, CommandContext) async throws -> ExitStatus
    ) {
        self.definition = definition
        self.run = run
    }
}
