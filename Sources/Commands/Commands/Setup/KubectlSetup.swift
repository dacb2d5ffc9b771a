internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySystem
internal import LatchkeySecrets
internal import LatchkeyCommandLine

/// `latchkey setup kubectl PROVIDER`: a user of the kubeconfig, which kubectl itself writes.
struct KubectlSetup {
    private let provider: String
    private let file: ConfigurationFile
    private let words: [String]
    /// The arguments in the file, as kubectl writes them.
    private let lines: String
    private let context: CommandContext

    init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
        guard let provider = arguments.optionalOperand("NAME") else {
            throw CommandFailure(
                .usage, "usage.missing-operand", "the provider's name is missing",
                hint: "run `latchkey setup kubectl NAME` with a NAME from `latchkey provider list`")
        }
        let options = context.storeArguments.dropLast()
        let program = try ToolSetup.Place.program(writtenWith: [provider] + options)
        self.provider = provider
        self.context = context
        file = Self.file(context.environment)
        let given = ["helper", "kubectl", provider] + (arguments.has(TokenCommand.id) ? ["--id"] : []) + options
        lines = given.map { "      - \($0)\n" }.joined()
        words =
            ["set-credentials", provider, "--exec-api-version=client.authentication.k8s.io/v1"]
            + ["--exec-command=" + program, "--exec-interactive-mode=Never"] + given.map { "--exec-arg=" + $0 }
    }

    static func file(_ environment: ProgramEnvironment) -> ConfigurationFile {
        let named = environment["KUBECONFIG"].flatMap { $0.split(separator: ":").first }
        return ConfigurationFile(path: named.map(String.init) ?? environment.home + "/.kube/config")
    }

    func run(_ arguments: ParsedArguments) throws -> ExitStatus {
        let isThere = try file.read().withExposedBytes { !$0.places(of: "- name: \(provider)\n").isEmpty }
        let isOurs = try file.read().withExposedBytes { text in
            isThere && !text.places(of: "      - kubectl\n      - \(provider)\n").isEmpty
        }
        let isUndone = arguments.has(SetupCommand.undo)
        if isThere && !isOurs {
            throw CommandFailure(
                .refused, "setup.other", "\(file.shown) already contains an entry named \(shown(provider))",
                hint: "add the provider under another name")
        }
        if isUndone && !isThere {
            throw CommandFailure(
                .notFound, "setup.not-done", "\(file.shown) doesn't contain a user \(shown(provider))",
                hint: "list what is set up: latchkey setup")
        }
        if isOurs && !isUndone {
            let isSame = try file.read().withExposedBytes { text in
                text.places(of: lines).contains { !text.starts(with: "      - ", at: $0.upperBound) }
            }
            guard isSame else {
                throw CommandFailure(
                    .refused, "setup.other", "kubectl already gets its tokens from Latchkey, with another setting",
                    hint: "remove that setting first: latchkey setup kubectl \(shown(provider)) --undo")
            }
            return try context.tell("kubectl already gets its tokens from Latchkey", "none", of: "kubectl", file)
        }
        let words = isUndone ? ["delete-user", provider] : self.words
        if !context.output.isJSON {
            try context.output.write("kubectl config \(shown(words.joined(separator: " ")))")
        }
        if !isUndone, try !context.providers.hasOne(named: provider) {
            context.output.warn(
                "unknown provider \(shown(provider))",
                hint: "add the provider: latchkey sign-in \(shown(provider)) --issuer URL --client-id ID")
        }
        if arguments.has(SetupCommand.printing) {
            return context.output.isJSON ? try context.tell("", "shown", of: "kubectl", file) : .success
        }
        try context.consent(arguments.has(.yes))
        try callKubectl(["config"] + words + ["--kubeconfig", file.path])
        if isUndone { return try context.tell("kubectl no longer uses Latchkey", "undone", of: "kubectl", file) }
        return try context.tell(
            "to use it in your context: kubectl config set-context --current --user=\(shown(provider))", "made",
            of: "kubectl", file)
    }

    private func callKubectl(_ words: [String]) throws {
        guard let path = DetachedProgram.path(of: "kubectl", in: context.environment["PATH"]) else {
            throw CommandFailure(
                .unavailable, "setup.no-kubectl", "kubectl isn't on PATH",
                hint: "run the shown command where kubectl is installed")
        }
        guard (try? unsafe ChildProcess(path, [path] + words, .quiet))?.wait() == 0 else {
            throw CommandFailure(
                .cannotWrite, "setup.cannot-write", "kubectl did not write \(file.shown)",
                hint: "run the shown command to see why")
        }
    }

    private func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "words of a command that setup shows hold no secret", unredacted: text)
    }
}
