internal import LatchkeyATProtocol
internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import Synchronization

/// `latchkey sign-in PROVIDER`.
enum SignInCommand {
    private static let browser = CommandOption.flag("--browser", help: "use a browser on this machine")
    private static let paste = CommandOption.flag(
        "--paste", help: "show an address to open anywhere, and ask for the address that it ends at")
    private static let device = CommandOption.flag("--device", help: "show a code to enter on another device")
    private static let scheme = CommandOption.flag(
        "--scheme", help: "use a browser on this machine, and the handler of a private-use scheme")
    private static let ephemeral = CommandOption.flag(
        "--ephemeral", help: "use a private window, without the browser's cookies")
    private static let newProvider = CommandOperand.required(
        "PROVIDER", help: "built-in service, name from latchkey provider list, or a new name with --issuer")

    /// The default time limit for the person.
    private static let timeout = Duration.seconds(600)

    private static let addScope = CommandOption.value(
        "--add-scope", "SCOPE", repeats: true,
        help: "scope to request beside those that the session has, here and at later sign-ins")

    static let command = Command(
        "sign-in", topic: .signIns, summary: "sign in at a server and store the session", operands: [newProvider],
        options: [
            SignInOptions.account, SignInOptions.issuer, SignInOptions.resource, SignInOptions.clientID,
            SignInOptions.clientSecret,
            SignInOptions.clientAuthentication, SignInOptions.host,
            SignInOptions.scope, addScope, browser, scheme, ephemeral, paste, device, SignInOptions.parameter,
            SignInOptions.redirect, SignInOptions.anyScheme,
            SignInOptions.certificateAuthority,
        ],
        details: """
            The first sign-in adds the provider. It needs a client ID from the server, except at mastodon and bluesky. For a
            server that isn't built in, add --issuer. A resource that names its server, such as an MCP server, needs --resource
            instead: Latchkey registers a client there, and sends the tokens to that resource only.

            A session holds an access token and usually a refresh token. Latchkey refreshes the session when a command needs a
            token. Many servers issue a refresh token for the scope offline_access only.

            By default Latchkey picks a method and tells you why:

              browser          if there is a display, or BROWSER is set
              browser + paste  over SSH, in WSL and in containers: whichever comes first
              device code      without a display, if the server supports it and --redirect isn't set
              paste            otherwise; with SSH you can also forward the loopback port

            github wants the client secret for a browser. Without --client-secret-stdin, Latchkey uses a device code there.

            The account gets the server's name for you. If the server doesn't say one, it gets the provider's name. Set
            another name with --account.

            --ephemeral works with Firefox, Chromium, Chrome, Brave, Vivaldi, Edge and LibreWolf. Without a terminal, --device
            writes its code to standard error (RFC 8628).
            """,
        examples: [
            "latchkey sign-in mastodon --host mastodon.social", "latchkey sign-in github --client-id ID",
            "latchkey sign-in work --issuer https://login.example.org --client-id ID",
            "latchkey sign-in work --account alice", "latchkey sign-in tools --resource https://mcp.example.org/mcp",
        ], runs: { _ in .worker }, usesNetwork: true, startsPrograms: true
    ) { arguments, context in
        let timeout = arguments.seconds(GlobalOptions.timeout) ?? timeout
        var methods = try methods(arguments, context, timeout)
        var (configuration, isNew) = try await configuration(arguments, context)
        guard configuration.grant == nil else {
            throw CommandFailure(
                .usage, "sign-in.machine", "no person signs in at \(configuration.name): it is for this machine",
                hint: "run `latchkey token \(configuration.name)`")
        }
        let added = arguments.all(addScope)
        if !added.isEmpty { try await add(added, to: &configuration, arguments, context) }
        // Before there is a session that no process could use again.
        if isNew {
            try context.providers.prepare()
            try context.tellRedirect(of: configuration)
        }
        let redirect = try arguments.value(SignInOptions.redirect).map {
            try RedirectURI($0, allowingAnyPrivateScheme: arguments.has(SignInOptions.anyScheme))
        }
        if let redirect { try context.warnOfSharedRedirect(redirect, of: configuration) }
        let reminder = Reminder(context.whatToCheck(of: configuration, redirect), context.output)
        defer { reminder.cancel() }
        methods.announce = { [announce = methods.announce] choice in
            announce(choice)
            // At a prompt the person has read it already.
            if choice.way == .browser || choice.way == .scheme { reminder.begin() }
        }
        if arguments.has(SignInOptions.clientSecret) {
            try await ProviderAddCommand.keepSecret(configuration, context)
        }
        let account = arguments.value(SignInOptions.account)
        let deadline = Deadline.after(timeout)
        let session: SessionSummary
        let sessions: SessionStore
        do {
            if configuration.findsServerByAccount {
                (session, sessions) = try await signIn(
                    configuration, arguments, context, by: methods, redirect: redirect, deadline: deadline)
            } else {
                let service = try await context.service(configuration, arguments)
                session = try await mapError(
                    { (error: SignInError) in
                        CommandFailure(error, redirect ?? service.provider.redirect, of: configuration)
                    },
                    awaiting: try await service.signIn(
                        presenting: UserAgent(methods), account: account, redirect: redirect, deadline: deadline))
                sessions = service.sessions
            }
        } catch {
            // Nothing names the secret of a provider that isn't added.
            if isNew, configuration.secretMethod != nil {
                _ = try? await ProviderAddCommand.forgetSecret(configuration, context)
            }
            throw error
        }
        if isNew {
            try context.providers.write(configuration)
        } else if var known = try context.providers.read(configuration.name),
            known.secretMethod != configuration.secretMethod || !added.isEmpty
        {
            // Each refresh needs the secret too.
            known.secretMethod = configuration.secretMethod
            if !added.isEmpty { known.scopes = configuration.scopes }
            try context.providers.write(known)
        }
        try context.output.tell(
            "signed in at \(configuration.name) as \(Account(session.account))",
            json: .object(AccountsCommand.members(configuration.name, session, refreshes: session.isRefreshable)))
        try context.tellLimits(of: session, configuration)
        try await context.warnOfOtherPlaces(
            of: sessions.key(session.account), savedIn: sessions.store, StoreView([sessions.store]))
        return .success
    }

    /// Requests the scopes that the session has, those of the provider, and more.
    private static func add(
        _ scopes: [String], to configuration: inout ProviderConfiguration, _ arguments: ParsedArguments,
        _ context: CommandContext
    ) async throws {
        let sessions = try await context.sessions(configuration)
        let current = try await sessions.currentAccount(deadline: context.deadline)
        var union = try configuration.provider().scopes.scopes
        if let account = arguments.value(SignInOptions.account) ?? current,
            let session = try await sessions.load(account, deadline: context.deadline)
        {
            union += session.scopes.scopes
        }
        configuration.scopes = try ScopeList(union + scopes).scopes
    }

    /// At AT Protocol the account comes first: its handle or DID leads to its servers. By default it is the current
    /// account, perhaps with a session that has ended.
    private static func signIn(
        _ configuration: ProviderConfiguration, _ arguments: ParsedArguments, _ context: CommandContext,
        by methods: SignInMethods, redirect: RedirectURI?, deadline: Deadline
    ) async throws -> (SessionSummary, SessionStore) {
        let client = try context.atProtocolClient(
            configuration, try await context.store(of: configuration),
            context.http(configuration, arguments), redirect: redirect)
        var handle = arguments.value(SignInOptions.account)
        if handle == nil { handle = try await client.sessions.currentAccount(deadline: deadline) }
        guard let handle else {
            throw CommandFailure(
                .usage, "sign-in.no-account", "\(configuration.name) needs your account before the sign-in",
                hint: "add --account with your handle, such as alice.example.org, or with a DID")
        }
        return (
            try await client.authenticate(handle: handle, presenting: UserAgent(methods), deadline: deadline),
            client.sessions
        )
    }

    // MARK: - Ways

    private static func methods(
        _ arguments: ParsedArguments, _ context: CommandContext, _ timeout: Duration
    ) throws -> SignInMethods {
        let mayPrompt = !arguments.has(GlobalOptions.noPrompt)
        let wanted = try wanted(arguments, mayPrompt: mayPrompt)
        var methods = SignInMethods(
            sessionEnvironment: SessionEnvironment(
                environment: context.environment.variables, hasTerminal: context.prompt.isPossible),
            environment: context.environment.variables)
        methods.wanted = wanted
        methods.ephemeral = arguments.has(ephemeral)
        if mayPrompt {
            methods.terminal = PersonsTerminal(prompt: context.prompt)
            methods.devicePrompt = devicePrompt(context.prompt, context.output, timeout)
        }
        methods.handledSchemes = Set(SchemeEntries(environment: context.environment).schemes)
        methods.redirects = .standard(in: context.environment)
        let (output, canPaste) = (context.output, methods.terminal != nil && methods.sessionEnvironment.hasTerminal)
        methods.announce = { choice in
            if choice.reason != .asked { output.note(choice.logMessage) }
            if choice.reason == .noClientSecret { output.note("to use a browser, add --client-secret-stdin") }
            if let wait = wait(choice.way, timeout, canPaste: canPaste) { output.note(wait) }
        }
        return methods
    }

    /// The code goes to standard error for its readers if there is no terminal, as in a container or under a
    /// supervisor.
    private static func devicePrompt(
        _ prompt: SecretPrompt, _ output: TerminalOutput, _ timeout: Duration
    ) -> TerminalDevicePrompt {
        TerminalDevicePrompt(prompt: prompt, timeout: timeout) { (device) throws(UserAgentError) in
            let address = LoggableText(
                reviewed: "where the server wants its codes entered", unredacted: device.address.text)
            output.note("on any device, open \(address) and enter the code in the next line")
            try mapError(
                { (_: CommandFailure) in UserAgentError.unavailable(.noTerminal) }, of: output.show(device.userCode))
            output.note("waiting up to \(min(device.lifetime, timeout).inWords) for you to do that")
        }
    }

    /// Prints the time limit, and what to do if nothing happens. A code for another device has its own countdown.
    private static func wait(_ way: SignInMethod, _ timeout: Duration, canPaste: Bool) -> LogMessage? {
        let time = timeout.inWords
        return switch way {
        case .device: nil
        case .browser where canPaste, .scheme where canPaste:
            "waiting up to \(time) for the browser; if it shows no page, press Control-C and use --paste"
        case .browser, .scheme: "waiting up to \(time) for the browser"
        case .paste where !canPaste, .browserAndPaste where !canPaste: nil
        case .paste, .browserAndPaste: "waiting up to \(time) for the response; press Control-C to give up"
        }
    }

    /// The method that the command line chooses; `nil` leaves the choice to the session environment.
    private static func wanted(_ arguments: ParsedArguments, mayPrompt: Bool) throws -> SignInMethod? {
        let methods: [(CommandOption, SignInMethod)] = [
            (browser, .browser), (paste, .paste),
            (device, .device), (scheme, .scheme),
        ]
        let asked = methods.filter { arguments.has($0.0) }
        guard asked.count < 2 else {
            throw CommandFailure(
                .usage, "sign-in.two-agents", "--browser, --scheme, --paste and --device can't be combined",
                hint: "remove all of these options but one")
        }
        let isEphemeral = arguments.has(ephemeral)
        let way = asked.first?.1
        switch way {
        case .paste where isEphemeral:
            throw CommandFailure(
                .usage, "sign-in.ephemeral-paste", "--ephemeral and --paste can't be combined",
                hint: "open the address in a private window")
        case .device where isEphemeral || arguments.value(SignInOptions.redirect) != nil:
            throw CommandFailure(
                .usage, "sign-in.two-agents", "--device can't be combined with --ephemeral or --redirect",
                hint: "remove one of the options")
        case .paste where !mayPrompt:
            throw CommandFailure(
                .refused, "sign-in.paste-forbidden", "--paste asks a question, which --no-prompt forbids",
                hint: "remove one of the options")
        case .device where !mayPrompt:
            throw CommandFailure(
                .refused, "sign-in.device-forbidden", "--device shows a code, which --no-prompt forbids",
                hint: "remove one of the options")
        case nil where isEphemeral: return .browser
        default: return way
        }
    }
}

/// An account's name, for messages.
struct Account: Loggable {
    private let name: String

    init(_ name: String) {
        self.name = name
    }

    var text: LoggableText {
        LoggableText(reviewed: "an account's name stands in listings and keyring applications", unredacted: name)
    }

    /// As a shell takes it.
    var word: LoggableText { CredentialName.word(name) }

    /// The option that names an account in a command line, after a space.
    static func option(_ name: String?) -> LogMessage { name.map { " --account \(Account($0).word)" } ?? "" }

    /// Safe: what the person is called at the service, which listings show too.
    var logMessage: LogMessage { "\(text)" }
}

/// Tells a person who still waits for the browser what to check. A server that refuses a request shows a page, and sends
/// nothing here.
private final class Reminder: Sendable {
    private static let patience = Duration.seconds(10)

    private let message: LogMessage
    private let output: TerminalOutput
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ message: LogMessage, _ output: TerminalOutput) {
        self.message = message
        self.output = output
    }

    func begin() {
        let task = Task { [message, output] in
            guard (try? await Task.sleep(for: Self.patience)) != nil else { return }
            output.note(message)
        }
        self.task.withLock { $0 = task }
    }

    func cancel() { task.withLock { $0?.cancel() } }
}
