internal import Glibc
internal import LatchkeyJSON

/// `latchkey setup kubectl PROVIDER`: a user of the kubeconfig, which kubectl itself writes.
struct KubectlSetup {
    private let provider: String
    private let file: ConfigurationFile
    private let program: String
    /// The arguments of `program`.
    private let arguments: [String]
    private let kubectl: String?
    private let context: CommandContext

    init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
        guard let provider = arguments.optionalOperand("NAME") else {
            throw CommandFailure(
                .usage, "usage.missing-operand", "the provider's name is missing",
                hint: "run `latchkey setup kubectl NAME` with a NAME from `latchkey provider list`")
        }
        let options = context.storeArguments.dropLast()
        program = try ToolSetup.Place.program(writtenWith: [provider] + options)
        self.arguments =
            ["helper", "kubectl", provider] + (arguments.has(TokenCommand.id) ? ["--id"] : []) + options
        self.provider = provider
        self.context = context
        file = Self.file(context.environment)
        kubectl = DetachedProgram.path(of: "kubectl", in: context.environment["PATH"])
    }

    static func file(_ environment: ProgramEnvironment) -> ConfigurationFile {
        let named = environment["KUBECONFIG"].flatMap { $0.split(separator: ":").first }
        return ConfigurationFile(path: named.map(String.init) ?? environment.home + "/.kube/config")
    }

    func run(_ arguments: ParsedArguments) throws -> ExitStatus {
        let isUndone = arguments.has(SetupCommand.undo)
        // The command for kubectl can be shown even if kubectl isn't installed.
        switch try kubectl.map(entry) {
        case .other:
            throw CommandFailure(
                .refused, "setup.other", "kubectl has a user named \(shown(provider)) with other settings",
                hint: isUndone
                    ? "remove Latchkey's part: kubectl config unset users.\(shown(provider)).exec"
                    : "add the provider under another name")
        case .elsewhere:
            throw CommandFailure(
                .refused, "setup.other",
                "kubectl has a user named \(shown(provider)) in another file than \(file.shown)",
                hint: "set KUBECONFIG to that file, then run the command again")
        case .missing where isUndone:
            throw CommandFailure(
                .notFound, "setup.not-done", "kubectl doesn't have a user named \(shown(provider))",
                hint: "list what is set up: latchkey setup")
        case .ours(isSame: true) where !isUndone:
            return try context.tell("kubectl already gets its tokens from Latchkey", "none", of: "kubectl", file)
        case .ours where !isUndone:
            throw CommandFailure(
                .refused, "setup.other", "kubectl already gets its tokens from Latchkey, with another setting",
                hint: "remove that setting first: latchkey setup kubectl \(shown(provider)) --undo")
        default: break
        }
        let words =
            isUndone
            ? ["delete-user", provider]
            : ["set-credentials", provider, "--exec-api-version=client.authentication.k8s.io/v1"]
                + ["--exec-command=" + program, "--exec-interactive-mode=Never"]
                + self.arguments.map { "--exec-arg=" + $0 }
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
        if isUndone {
            if let names = contexts()?.split(separator: "\n"), let first = names.first {
                context.output.warn(
                    "contexts still name that user, so kubectl can't sign in there: \(shown(names.joined(separator: ", ")))",
                    hint: "choose another user: kubectl config set-context \(shown(String(first))) --user=NAME")
            }
            return try context.tell("kubectl no longer uses Latchkey", "undone", of: "kubectl", file)
        }
        return try context.tell(
            "to use it in your context: kubectl config set-context --current --user=\(shown(provider))", "made",
            of: "kubectl", file)
    }

    /// The user of this name.
    private enum Entry {
        case missing
        /// Has something that Latchkey didn't write.
        case other
        /// In another of the files that kubectl reads.
        case elsewhere
        case ours(isSame: Bool)
    }

    private func entry(_ kubectl: String) throws -> Entry {
        switch try (entry(kubectl, ["--kubeconfig", file.path]), entry(kubectl, [])) {
        case (.missing, .missing): .missing
        case (.missing, .ours): .elsewhere
        case (_, .other): .other
        case (let here, _): here
        }
    }

    private func entry(_ kubectl: String, _ options: [String]) throws -> Entry {
        let limits = JSONLimits(byteCount: Self.maximumByteCount, valueCount: 65_536, memberCount: 4096)
        // kubectl leaves out its files' secrets.
        guard let view = Self.output(of: kubectl, ["config", "view", "--output=json"] + options),
            let document = try? JSONDocument(view, limits: limits)
        else {
            throw CommandFailure(
                .refused, "setup.unusable", "kubectl can't read its configuration, so it wasn't changed",
                hint: "run kubectl config view to see why")
        }
        let users = document.member("users").map { document.elements(of: $0) } ?? []
        guard let user = users.first(where: { document.text(document.member("name", of: $0)) == provider }) else {
            return .missing
        }
        guard let content = document.member("user", of: user), document.members(of: content).count == 1,
            let exec = document.member("exec", of: content), let given = document.member("args", of: exec)
        else { return .other }
        let words = document.elements(of: given).map { document.text($0) }
        guard words.starts(with: ["helper", "kubectl", provider]) else { return .other }
        return .ours(isSame: words == arguments && document.text(document.member("command", of: exec)) == program)
    }

    /// The contexts with the user of this name.
    private func contexts() -> String? {
        let query = "--output=jsonpath={range .contexts[?(@.context.user==\"\(provider)\")]}{.name}{\"\\n\"}{end}"
        return kubectl.flatMap { Self.output(of: $0, ["config", "view", query]) }?.withExposedBytes { $0.publicText() }
    }

    private static let maximumByteCount = 4 << 20

    /// Returns the output of a program; `nil` if it fails.
    static func output(of program: String, _ words: [String]) -> Secret<MessageBody>? {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        var settings = ChildProcess.Settings.quiet
        settings.descriptors += [.copies(ends[1], to: 1), .closes(from: 3)]
        let child = try? unsafe ChildProcess(program, [program] + words, settings)
        close(ends[1])
        let shown = try? SecretInput.readAll(from: ends[0], as: MessageBody.self, limit: maximumByteCount)
        close(ends[0])
        return child?.wait() == 0 ? shown : nil
    }

    private func callKubectl(_ words: [String]) throws {
        guard let path = kubectl else {
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
