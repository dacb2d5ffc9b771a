package import LatchkeyLog

/// All commands of a program, with the options that each of them takes.
package struct CommandGrammar: Sendable {
    package let program: StaticString
    package let summary: StaticString
    package let version: StaticString
    package let globalOptions: [CommandOption]
    package let commands: [CommandDefinition]
    /// The lines that the program's name alone prints. If there are none, calling it so is an ordinary error.
    package let introduction: StaticString
    /// Commands that share a first word. Those with two words belong to one each.
    package let groups: [CommandGroup]
    /// Other words for a command.
    package let aliases: [(word: StaticString, command: StaticString)]
    /// Words that people try, and the command that each one means.
    package let synonyms: [(word: StaticString, command: StaticString)]
    // Made when they are shown: most calls of a program show none.
    private let makePages: @Sendable () -> [HelpPage]

    package init(
        program: StaticString, summary: StaticString, version: StaticString, globalOptions: [CommandOption],
        commands: [CommandDefinition],
        introduction: StaticString = "", groups: [CommandGroup] = [],
        aliases: [(word: StaticString, command: StaticString)] = [],
        synonyms: [(word: StaticString, command: StaticString)] = [],
        pages: @escaping @autoclosure @Sendable () -> [HelpPage] = []
    ) {
        self.program = program
        self.summary = summary
        self.version = version
        self.globalOptions = globalOptions
        self.commands = commands + [Self.helpCommand, Self.versionCommand]
        self.introduction = introduction
        self.groups = groups
        self.aliases = aliases
        self.synonyms = synonyms
        makePages = pages
    }

    package var pages: [HelpPage] { makePages() }

    static let help = CommandOption.flag("--help", help: "show the help")
    static let versionOption = CommandOption.flag("--version", help: "show the version")

    /// The same as words: many programs have them.
    static let helpCommand = CommandDefinition(
        ["help"], topic: .program, summary: "list the commands, or explain one",
        operands: [.optional("COMMAND", help: "a command, a group of commands or a page of the help")],
        examples: ["latchkey help", "latchkey help vault", "latchkey help vault init"])
    static let versionCommand = CommandDefinition(
        ["version"], topic: .program, summary: "show the version", examples: ["latchkey version"])

    func commands(startingWith word: String) -> [CommandDefinition] {
        commands.filter { $0.words[0].description == word }
    }

    /// The command whose words these are.
    package func command(named name: String) -> CommandDefinition? { commands.first { $0.name == name } }
}

/// Commands that share a first word, such as `vault`.
package struct CommandGroup: Sendable {
    package let word: StaticString
    /// The purpose of the commands, a phrase without a full stop.
    package let summary: StaticString
    /// The subject of the commands, in two sentences.
    package let about: StaticString

    package init(_ word: StaticString, summary: StaticString, about: StaticString) {
        self.word = word
        self.summary = summary
        self.about = about
    }
}

/// A page of `help` about something else than a command: tables with a title each.
package struct HelpPage: Sendable {
    package typealias Section = (title: StaticString, rows: [(name: LogMessage, meaning: LogMessage)])

    /// The words after `help`.
    package let name: StaticString
    package let summary: StaticString
    package let sections: [Section]

    package init(_ name: StaticString, summary: StaticString, sections: [Section]) {
        self.name = name
        self.summary = summary
        self.sections = sections
    }

    /// The meaning of each exit status.
    package static let exitStatuses = HelpPage(
        "exit-status", summary: "list the exit statuses",
        sections: [
            ("exit statuses", ExitStatus.allCases.map { ("\(Int($0.rawValue))", "\($0.meaning)") })
        ])
}
