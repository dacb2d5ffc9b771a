internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyProcess
internal import LatchkeySignIn
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

extension CommandContext {
    var providers: ProviderFolder { ProviderFolder(configurationFolder: configurationFolder) }

    /// The transport, with the environment's proxies and the trust that was asked for.
    func http(certificateFile: String?) -> CurlTransport {
        CurlTransport(
            configuration: CurlTransport.Configuration(
                trust: certificateFile.map { .only(file: $0) } ?? .system,
                proxies: HTTPProxies(environment: environment.variables)))
    }

    func signInContext(http: any HTTPTransport) -> SignInContext {
        SignInContext(
            http: http, leases: .standard,
            log: logger.category("latchkey.sign-in"))
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
                .notFound, "provider.not-found", "there is no client id for \(name) yet",
                hint: Self.registrationAdvice(
                    for: ProviderConfiguration(
                        name: name, server: .builtIn(name.text, host: nil),
                        clientID: ProviderAddCommand.unregisteredClientID), then: "sign-in \(name)"))
        }
        let hint: LogMessage =
            switch builtIn?.host {
            case nil:
                "latchkey provider list shows those there are; a new one: latchkey provider add \(name) --issuer URL --client-id ID"
            case .required: "sign in first: latchkey sign-in \(name) --host HOST"
            case _ where builtIn?.findsServerByAccount == true:
                "sign in first: latchkey sign-in \(name) --account HANDLE"
            case .fixed, .standard: "sign in first: latchkey sign-in \(name)"
            }
        throw CommandFailure(.notFound, "provider.not-found", "there is no provider \(name)", hint: hint)
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
    /// The store that a provider's sessions are kept in.
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
    /// Runs a command's work. When it ends early, by Control-C, a refresh that is going on is waited for: the server
    /// may have spent the old refresh token already, and the new one is good for nothing until it is stored.
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
                .usage, "provider.name", "a provider's name is 1 to 64 lower-case letters, digits, dots and hyphens",
                hint: "see latchkey provider list")
        }
        self = name
    }
}
