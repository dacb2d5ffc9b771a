internal import LatchkeyATProtocol
internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn

extension CommandContext {
    var providers: ProviderFolder { ProviderFolder(configurationFolder: configurationFolder) }

    /// The transport, with the environment's proxies and the configured certificates.
    func http(certificateFile: String?) -> CurlTransport {
        CurlTransport(
            configuration: CurlTransport.Configuration(
                trust: certificateFile.map { .only(file: $0) } ?? .system,
                proxies: HTTPProxies(environment: environment.variables), timeout: requestTimeout))
    }

    func signInContext(http: any HTTPTransport) -> SignInContext {
        var made = SignInContext(
            http: http, leases: .standard,
            log: logger.category("latchkey.sign-in"))
        made.askForName = { [prompt] in
            guard prompt.isPossible else { return nil }
            let (name, limit) = (Handover<String>(), Deadline.after(.seconds(60)))
            await BlockingWork.run {
                let answer = try? prompt.ask(
                    "The server doesn't say who signed in. Name for the account", as: MessageBody.self, limit: 256,
                    isShown: true, stopping: { limit.hasPassed ? .timedOut : nil })
                if let text = answer?.withExposedBytes({ $0.publicText() }) { name.give(text) }
            }
            return name.take()
        }
        return made
    }

    /// The configuration that PROVIDER names.
    func configuration(_ arguments: ParsedArguments) throws -> ProviderConfiguration {
        try configuration(named: arguments.operand("PROVIDER"))
    }

    func configuration(named text: String) throws -> ProviderConfiguration {
        let name = try ProviderName(checking: text)
        if let found = try providers.read(name) { return found }
        let builtIn = BuiltInProvider.named(name.text)
        if let builtIn, builtIn.host != .required, builtIn.standardClientID == nil {
            throw CommandFailure(
                .notFound, "provider.not-found", "\(name) needs a client ID",
                hint: Self.registrationAdvice(
                    for: ProviderConfiguration(
                        name: name, server: .builtIn(name.text, host: nil),
                        clientID: BuiltInProvider.unregisteredClientID), then: "sign-in \(name)"))
        }
        let hint: LogMessage =
            switch builtIn?.host {
            case nil:
                "run `latchkey provider list` to see the providers; to add \"\(name)\", run `latchkey sign-in \(name) --issuer URL --client-id ID`"
            case .required: "to sign in, run `latchkey sign-in \(name) --host HOST`"
            case _ where builtIn?.findsServerByAccount == true:
                "to sign in, run `latchkey sign-in \(name) --account HANDLE`"
            case .fixed, .standard: "to sign in, run `latchkey sign-in \(name)`"
            }
        throw CommandFailure(
            .notFound, "provider.not-found",
            builtIn == nil ? "unknown provider \"\(name)\"" : "the provider \(name) isn't set up", hint: hint)
    }

    /// The service for PROVIDER, over the chosen store.
    ///
    /// - Parameter view: what the command has open already.
    func service(
        _ configuration: ProviderConfiguration, _ arguments: ParsedArguments, in view: StoreView? = nil
    ) async throws -> SignInService {
        let store = try await store(of: configuration, in: view)
        let http = http(configuration, arguments)
        if configuration.findsServerByAccount {
            return try await atProtocolService(configuration, arguments, store, http)
        }
        return SignInService(
            provider: try configuration.provider(), store: store, context: signInContext(http: http))
    }
}

extension CommandContext {
    /// The store of a provider's sessions.
    func store(
        of configuration: ProviderConfiguration, in view: StoreView? = nil
    ) async throws -> any CredentialStore {
        let open = if let view { view } else { try await openView() }
        return try await open.store(
            forService: SessionStore.service(ofProvider: configuration.name.text), deadline: deadline)
    }

    /// The transport to a provider's servers.
    func http(_ configuration: ProviderConfiguration, _ arguments: ParsedArguments) -> CurlTransport {
        let asked =
            arguments.command.takesCertificateFile
            ? arguments.value(SignInOptions.certificateAuthority).map(AbsolutePath.of) : nil
        return http(certificateFile: asked ?? configuration.certificateFile)
    }
}

extension SignInService {
    /// Runs a command's work. If Control-C ends the work early, this waits for a refresh in progress, because the
    /// server may have spent the old refresh token already, and the new token is useless until it is stored.
    func settling<Result: ~Copyable>(_ work: () async throws -> Result) async throws -> Result {
        do {
            return try await work()
        } catch {
            await finishRefreshes()
            throw error
        }
    }
}

extension CommandDefinition {
    fileprivate var takesCertificateFile: Bool {
        options.contains { $0.name.description == SignInOptions.certificateAuthority.name.description }
    }
}

extension ProviderName {
    /// Takes a name from a command line.
    init(checking text: String) throws {
        guard let name = ProviderName(text) else {
            throw CommandFailure(
                .usage, "provider.name", "a provider's name has 1 to 64 lower-case letters, digits, dots and hyphens",
                hint: "use a name such as my-server, or one that `latchkey provider list` prints")
        }
        self = name
    }
}

extension ProviderConfiguration {
    /// Whether the server is found by the account (AT Protocol).
    var findsServerByAccount: Bool { builtIn?.findsServerByAccount ?? false }

    /// - Parameter redirect: in place of the configured one.
    fileprivate func atProtocol(redirect other: RedirectURI?) throws -> ATProtocolConfiguration {
        let provider = try self.provider()
        let isLoopback = clientID == BuiltInProvider.named("bluesky")?.standardClientID
        return ATProtocolConfiguration(
            client: isLoopback ? .loopback : .document(try HTTPURL(clientID)), redirect: other ?? provider.redirect,
            scopes: provider.scopes, provider: name, reach: isDevelopment ? .development : .publicInternet)
    }

    /// The directory of did:plc; under development one on a loopback address, in the clear.
    fileprivate var directory: HTTPURL {
        get throws {
            guard case .builtIn(_, let host?) = server else { return NetworkIdentityResolver.standardDirectory }
            let clear = try HTTPURL("http://\(host)")
            return isDevelopment && clear.isLoopback ? clear : try HTTPURL("https://\(host)")
        }
    }
}

extension CommandContext {
    /// The client of AT Protocol over a store.
    func atProtocolClient(
        _ configuration: ProviderConfiguration, _ store: any CredentialStore, _ http: any HTTPTransport,
        redirect: RedirectURI? = nil
    ) throws -> ATProtocolClient {
        let settings = try configuration.atProtocol(redirect: redirect)
        let log = logger.category("latchkey.atproto")
        var context = signInContext(http: http)
        context.log = log
        return ATProtocolClient(
            configuration: settings, store: store, context: context,
            resolver: NetworkIdentityResolver(
                http: http, directory: try configuration.directory, reach: settings.reach, log: log))
    }

    /// The service of one account, for the common work on all providers' sessions. Throws if none is signed in.
    func atProtocolService(
        _ configuration: ProviderConfiguration, _ arguments: ParsedArguments, _ store: any CredentialStore,
        _ http: any HTTPTransport
    ) async throws -> SignInService {
        let account =
            arguments.command.operands.contains { $0.name.description == "ACCOUNT" }
            ? arguments.operand("ACCOUNT")
            : arguments.command.options.contains { $0.name.description == SignInOptions.account.name.description }
                ? arguments.value(SignInOptions.account) : nil
        let client = try atProtocolClient(configuration, store, http)
        do throws(ATProtocolError) {
            return try await client.service(of: account).0
        } catch {
            guard case .signIn(let cause) = error.code else { throw error }
            throw cause
        }
    }
}
