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
    private let context: CommandContext

    init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
        guard let provider = arguments.optionalOperand("NAME") else {
            throw CommandFailure(
                .usage, "usage.missing-operand", "the provider's name is missing",
                hint: "give one from latchkey provider list: latchkey setup kubectl NAME")
        }
        let options = context.storeArguments.dropLast()
        let program = try ToolSetup.Place.program(writtenWith: [provider] + options)
        let named = context.environment["KUBECONFIG"].flatMap { $0.split(separator: ":").first }
        self.provider = provider
        self.context = context
        file = ConfigurationFile(path: named.map(String.init) ?? context.environment.home + "/.kube/config")
        let given = ["helper", "kubectl", provider] + options
        words =
            ["set-credentials", provider, "--exec-api-version=client.authentication.k8s.io/v1"]
            + ["--exec-command=" + program, "--exec-interactive-mode=Never"] + given.map { "--exec-arg=" + $0 }
    }

    func run(_ arguments: ParsedArguments) throws -> ExitStatus {
        let isThere = try file.read().withExposedBytes { !$0.places(of: "- name: \(provider)\n").isEmpty }
        let isOurs = try file.read().withExposedBytes { text in
            isThere && !text.places(of: "      - kubectl\n      - \(provider)\n").isEmpty
        }
        let isUndone = arguments.has(SetupCommand.undo)
        if isThere && !isOurs {
            throw CommandFailure(
                .refused, "setup.other", "\(file.shown) has something of the name \(shown(provider)) already",
                hint: "add the provider under another name")
        }
        if isUndone && !isThere {
            throw CommandFailure(
                .notFound, "setup.not-done", "\(file.shown) doesn't contain a user \(shown(provider))",
                hint: "latchkey setup shows what is set up")
        }
        if isOurs && !isUndone {
            context.output.note("kubectl asks Latchkey already")
            return .success
        }
        let words = isUndone ? ["delete-user", provider] : self.words
        try context.output.write("kubectl config \(shown(words.joined(separator: " ")))")
        if arguments.has(SetupCommand.printing) { return .success }
        try context.consent(arguments.has(.yes))
        try callKubectl(["config"] + words + ["--kubeconfig", file.path])
        context.output.note(
            isUndone
                ? "kubectl no longer uses Latchkey"
                : "kubectl config set-context --current --user=\(shown(provider)) makes it the user of your context")
        if !isUndone, try !context.providers.hasOne(named: provider) {
            context.output.warn(
                "unknown provider \(shown(provider))",
                hint: "latchkey sign-in \(shown(provider)) --issuer URL --client-id ID adds it")
        }
        return .success
    }

    private func callKubectl(_ words: [String]) throws {
        guard let path = DetachedProgram.path(of: "kubectl", in: context.environment["PATH"]) else {
            throw CommandFailure(
                .unavailable, "setup.no-kubectl", "kubectl isn't on PATH",
                hint: "run the command shown where it is")
        }
        guard (try? unsafe ChildProcess(path, [path] + words, .quiet))?.wait() == 0 else {
            throw CommandFailure(
                .cannotWrite, "setup.cannot-write", "kubectl did not write \(file.shown)",
                hint: "run the command shown to see why")
        }
    }

    private func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "words of a command that setup shows hold no secret", unredacted: text)
    }
}
