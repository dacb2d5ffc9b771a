internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySecrets
internal import LatchkeySystem
internal import LatchkeyCommandLine

/// What `latchkey setup` shows: which tools ask Latchkey, and which files keep secrets in clear.
struct SetupOverview {
    private let context: CommandContext

    init(_ context: CommandContext) {
        self.context = context
    }

    func write() throws {
        let tools = ToolSetup.all.map { ($0, isDone($0)) }
        let asking = tools.filter(\.1).map(\.0.tool)
        let files = PlainFile.all(context.environment).filter(\.holdsSecrets).map {
            (shown: $0.shown, command: $0.command(besides: asking))
        }
        if context.output.isJSON {
            return try context.output.write(
                .object([
                    (
                        "tools",
                        .array(
                            tools.map { .object([("tool", .message("\($0.0.tool)")), ("asks_latchkey", .bool($0.1))]) })
                    ),
                    (
                        "plain_text",
                        .array(files.map { .object([("file", .text($0.shown)), ("command", .message($0.command))]) })
                    ),
                ]))
        }
        var table = TextTable("TOOL", "ASKS LATCHKEY")
        for (tool, isDone) in tools { table.append("\(tool.tool)", isDone ? "yes" : "no: latchkey setup \(tool.tool)") }
        try context.output.write(table)
        var plain = TextTable("SECRETS IN CLEAR", "MOVE THEM WITH", wrapping: true)
        for file in files { plain.append("\(file.shown)", file.command) }
        if !plain.isEmpty {
            try context.output.write("")
            try context.output.write(plain)
        }
    }

    private func isDone(_ setup: ToolSetup) -> Bool {
        let place = ToolSetup.Place(
            environment: context.environment, program: ThisProgram.path ?? "", options: "", name: nil)
        guard let content = try? ConfigurationFile(path: setup.file(place)).read() else { return false }
        return content.withExposedBytes { text in
            if !text.places(of: "latchkey").isEmpty { return true }
            // pip and uv name no helper.
            guard setup.link == "keyring" else { return false }
            if case .success(nil) = Result(catching: { () throws(CommandFailure) in try setup.change(text, place) }) {
                return true
            }
            return false
        }
    }
}
