internal import Glibc

/// The output of `latchkey setup`: the tools that ask Latchkey, and the files with secrets in plain text.
struct SetupOverview {
    private let context: CommandContext

    init(_ context: CommandContext) {
        self.context = context
    }

    func write() throws {
        let hasUser = (try? KubectlSetup.file(context.environment).read().withExposedBytes { $0.namesUs }) ?? false
        let tools: [(tool: StaticString, asks: Bool)] =
            ToolSetup.all.map { ($0.tool, isDone($0)) } + [("kubectl", hasUser)]
        let asking = tools.filter(\.asks).map(\.tool)
        let files = PlainFile.all(context.environment).filter(\.holdsSecrets).map {
            (shown: $0.shown, command: $0.command(besides: asking))
        }
        if context.output.isJSON {
            return try context.output.write(
                .object([
                    (
                        "tools",
                        .array(
                            tools.map {
                                .object([("tool", .message("\($0.tool)")), ("asks_latchkey", .bool($0.asks))])
                            })
                    ),
                    (
                        "plain_text",
                        .array(files.map { .object([("file", .text($0.shown)), ("command", .message($0.command))]) })
                    ),
                ]))
        }
        var table = TextTable("TOOL", "USES LATCHKEY")
        for (tool, asks) in tools {
            let name: LogMessage = tool.description == "kubectl" ? " PROVIDER" : ""
            table.append("\(tool)", asks ? "yes" : "no: latchkey setup \(tool)\(name)")
        }
        try context.output.write(table)
        var plain = TextTable("SECRETS IN PLAIN TEXT", "TO MOVE THEM", wrapping: true)
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
        return content.withExposedBytes { setup.isDone(in: $0, place) } && setup.link.map(isFound) ?? true
    }

    /// Whether a tool that looks for this name on PATH finds Latchkey, in any place.
    private func isFound(_ name: String) -> Bool {
        let found = DetachedProgram.path(of: name, in: context.environment["PATH"]).flatMap(FileSystem.resolving)
        return found.map { $0 == ThisProgram.path || $0.hasSuffix("/latchkey") } ?? false
    }
}

/// A file with a tool's secrets in plain text, or a folder of such files.
struct PlainFile {
    let path: String
    /// The texts that mark secrets in the file; for a folder, the ends of the file names.
    let signs: [StaticString]
    /// How they come into a store.
    let command: LogMessage
    /// The tool to set up before the secrets are removed from the file.
    var tool: StaticString?

    var shown: LoggableText { LoggableText(reviewed: "the path of a tool's file", unredacted: path) }

    static func all(_ environment: ProgramEnvironment) -> [PlainFile] {
        let (home, configuration) = (environment.home, environment.configurationHome)
        let cargo = environment["CARGO_HOME"] ?? home + "/.cargo"
        return imported("git", of: "git", home + "/.git-credentials", at: [configuration + "/git/credentials"], [login])
            + imported(
                "gcm", of: "git", environment["GCM_PLAINTEXT_STORE_PATH"] ?? home + "/.gcm/store", [".credential"])
            + imported(
                "docker", of: "docker", (environment["DOCKER_CONFIG"] ?? home + "/.docker") + "/config.json", logins)
            + imported(
                "docker", of: "podman",
                at: [
                    environment.runtimeDirectory.map { $0 + "/containers/auth.json" },
                    configuration + "/containers/auth.json", environment["REGISTRY_AUTH_FILE"],
                ], logins)
            + imported(
                "cargo", of: "cargo", at: [cargo + "/credentials.toml", cargo + "/credentials"], ["token =", "token="])
            + imported("pypirc", home + "/.pypirc", ["password"])
            + [
                PlainFile(
                    path: (environment["GH_CONFIG_DIR"] ?? configuration + "/gh") + "/hosts.yml",
                    signs: ["oauth_token"], command: "latchkey import --from gh"),
                PlainFile(
                    path: environment.dataHome + "/python_keyring/keyring_pass.cfg", signs: ["="],
                    command: "latchkey import --from python-keyring"),
                keysOfAWS(environment),
                PlainFile(
                    path: ToolSetup.fileOfAWS(environment), signs: ["aws_secret_access_key"],
                    command: "latchkey set aws:PROFILE KEY-ID, then latchkey setup aws"),
                // curl and others read the file too, and don't ask any helper.
                PlainFile(
                    path: environment["NETRC"] ?? home + "/.netrc", signs: ["password"],
                    command: "latchkey import --from netrc"),
                PlainFile(
                    path: environment["PGPASSFILE"] ?? home + "/.pgpass", signs: [":"],
                    command: "latchkey set HOST USER, then latchkey run --env PGPASSWORD=HOST/USER"),
                PlainFile(
                    path: environment["PIP_CONFIG_FILE"] ?? configuration + "/pip/pip.conf", signs: [login],
                    command: "latchkey set URL USER, then latchkey setup pip"),
                PlainFile(
                    path: home + "/.npmrc", signs: ["_authToken="],
                    command:
                        "latchkey set npm token, then ${NPM_TOKEN} in the file and latchkey run --env NPM_TOKEN=npm/token"
                ),
            ]
    }

    static func keysOfAWS(_ environment: ProgramEnvironment) -> PlainFile {
        PlainFile(
            path: environment["AWS_SHARED_CREDENTIALS_FILE"] ?? environment.home + "/.aws/credentials",
            signs: ["aws_secret_access_key"], command: "latchkey set aws:PROFILE KEY-ID, then latchkey setup aws")
    }

    /// The marks in the files of docker, podman and skopeo.
    private static let logins: [StaticString] = ["\"auth\"", "\"identitytoken\""]

    /// The mark of an address with a user name and a password.
    private static let login: StaticString = "://USER:PASSWORD@"

    /// A file that import reads and can empty: its usual path and other paths.
    private static func imported(
        _ source: StaticString, of tool: StaticString? = nil, _ usual: String? = nil, at others: [String?] = [],
        _ signs: [StaticString]
    ) -> [PlainFile] {
        let command: LogMessage = "latchkey import --from \(source) --empty-source"
        return [usual].compactMap { $0 }.map { PlainFile(path: $0, signs: signs, command: command, tool: tool) }
            + others.compactMap { $0 }.map { path in
                PlainFile(path: path, signs: signs, command: "\(command) \(CredentialName.word(path))", tool: tool)
            }
    }

    /// - Parameter tools: those that ask Latchkey already.
    func command(besides tools: [StaticString]) -> LogMessage {
        guard let tool, !tools.contains(where: { $0.description == tool.description }) else { return command }
        return "latchkey setup \(tool) && \(command)"
    }

    /// Whether it is there and has such a line.
    var holdsSecrets: Bool {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return false }
        if status.st_mode & S_IFMT == S_IFDIR { return Self.holdsFile(path, named: signs, depth: 0) }
        guard let content = try? ConfigurationFile(path: path).read() else { return false }
        return content.withExposedBytes { text in
            signs.contains { sign in
                if sign.description == Self.login.description { return text.hasLogin }
                // `${NAME}` is a variable's.
                return text.places(of: sign.description).contains { !text.starts(with: "${", at: $0.upperBound) }
            }
        }
    }

    private static func holdsFile(_ folder: String, named endings: [StaticString], depth: Int) -> Bool {
        guard depth < 32, let names = try? FileSystem.names(in: folder) else { return false }
        return names.contains { name in
            if endings.contains(where: { name.hasSuffix($0.description) }) { return true }
            // Opens only folders, and doesn't follow links.
            var status = stat()
            return unsafe lstat("\(folder)/\(name)", &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
                && holdsFile("\(folder)/\(name)", named: endings, depth: depth + 1)
        }
    }
}

extension Span<UInt8> {
    /// Whether an address has a password before its host.
    fileprivate var hasLogin: Bool {
        places(of: "://").contains { start in
            var hasColon = false
            for index in start.upperBound..<count {
                switch self[index] {
                // `${NAME}` is a variable's.
                case UInt8(ascii: ":"): hasColon = !starts(with: "${", at: index + 1)
                case UInt8(ascii: "@"): return hasColon
                case 0...0x20, UInt8(ascii: "/"): return false
                default: break
                }
            }
            return false
        }
    }
}
