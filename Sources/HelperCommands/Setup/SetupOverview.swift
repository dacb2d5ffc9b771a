internal import LatchkeyEnvironment
internal import LatchkeyLog
internal import LatchkeySecrets
internal import LatchkeyStoreCommands
internal import LatchkeySystem
internal import LatchkeyTerminal

/// What `latchkey setup` shows: which tools ask Latchkey, and which files keep secrets in clear.
struct SetupOverview {
    private let context: CommandContext

    init(_ context: CommandContext) {
        self.context = context
    }

    func write() throws {
        let tools = ToolSetup.all.map { ($0, isDone($0)) }
        let files = PlainFile.all(context.environment).filter(\.holdsSecrets)
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

/// A file in which a tool keeps secrets in clear.
struct PlainFile {
    let path: String
    /// What stands in it when it does.
    let sign: StaticString
    /// How they come into a store.
    let command: LogMessage

    var shown: LoggableText { LoggableText(reviewed: "the path of a tool's file", unredacted: path) }

    static func all(_ environment: ProgramEnvironment) -> [PlainFile] {
        let (home, configuration) = (environment.home, environment.configurationHome)
        let docker = (environment["DOCKER_CONFIG"] ?? home + "/.docker") + "/config.json"
        let cargo = environment["CARGO_HOME"] ?? home + "/.cargo"
        return [
            PlainFile(path: home + "/.git-credentials", sign: "://", command: "latchkey import --from git"),
            PlainFile(
                path: configuration + "/git/credentials", sign: "://",
                command: "latchkey import --from git \(shown(configuration + "/git/credentials"))"),
            PlainFile(path: docker, sign: "\"auth\"", command: "latchkey import --from docker"),
            PlainFile(
                path: configuration + "/containers/auth.json", sign: "\"auth\"",
                command: "latchkey import --from docker \(shown(configuration + "/containers/auth.json"))"),
            PlainFile(
                path: cargo + "/credentials.toml", sign: "token", command: "latchkey import --from cargo"),
            PlainFile(
                path: (environment["GH_CONFIG_DIR"] ?? configuration + "/gh") + "/hosts.yml", sign: "oauth_token",
                command: "latchkey import --from gh"),
            PlainFile(
                path: home + "/.aws/credentials", sign: "aws_secret_access_key",
                command: "latchkey set aws:PROFILE KEY-ID, then latchkey setup aws"),
            PlainFile(
                path: home + "/.pypirc", sign: "password",
                command: "latchkey set https://upload.pypi.org/legacy/ __token__, then latchkey run --env"),
            PlainFile(
                path: home + "/.netrc", sign: "password",
                command: "latchkey set git:https://HOST USER, then latchkey setup git"),
            PlainFile(
                path: home + "/.npmrc", sign: "_authToken", command: "latchkey set npm TOKEN, then latchkey run --env"),
        ]
    }

    private static func shown(_ path: String) -> LoggableText {
        LoggableText(reviewed: "the path of a tool's file", unredacted: path)
    }

    /// Whether it is there and has such a line.
    var holdsSecrets: Bool {
        guard let content = try? ConfigurationFile(path: path).read() else { return false }
        return content.withExposedBytes { !$0.places(of: sign.description).isEmpty }
    }
}
