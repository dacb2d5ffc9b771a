internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn

/// `latchkey provider add NAME`.
enum ProviderAddCommand {
    static let service = CommandOption.value(
        "--service", "SERVICE",
        form: .choice(BuiltInProvider.all.map(\.word)),
        help: "built-in service, if NAME isn't its name: bluesky, codeberg, github, gitlab, gmail, ...")
    private static let dpop = CommandOption.flag(
        "--dpop", help: "bind tokens to a key in the store (DPoP), and refuse other tokens")
    private static let par = CommandOption.flag(
        "--par", help: "refuse servers that don't take pushed authorization requests (PAR)")
    static let register = CommandOption.flag(
        "--register", help: "register a client at the server, instead of --client-id")
    private static let development = CommandOption.flag(
        "--development", help: "allow servers on loopback addresses for accounts of bluesky")
    static let forHost = CommandOption.value(
        "--for-host", "HOST", repeats: true,
        help: "host whose requests from git, docker and others get the token, or smtp://HOST:PORT, imap://HOST:PORT")
    static let newClientKey = CommandOption.flag(
        "--new-client-key", help: "create a key in place of a secret (RFC 7523), and print its public JWK")
    static let clientKey = CommandOption.flag(
        "--client-key-stdin", help: "read that key from standard input: PEM or JWK, on P-256")
    private static let grant = CommandOption.value(
        "--grant", "GRANT", form: .choice(ProviderConfiguration.grants),
        help: "for machines: client-credentials, jwt-bearer or token-exchange")
    private static let assertionFile = CommandOption.value(
        "--assertion-file", "PATH", help: "file with the token that a CI job or a cluster gives a workload")
    private static let force = CommandOption.flag("--force", help: "replace a provider of the same name without asking")

    static let command = Command(
        "provider", "add", summary: "add a server to sign in at",
        operands: [.required("NAME", help: "name of your choice: lower-case letters, digits, dots, hyphens")],
        options: [
            SignInOptions.issuer, service, SignInOptions.resource, SignInOptions.host, SignInOptions.clientID, register,
            SignInOptions.clientSecret, SignInOptions.clientAuthentication, newClientKey, clientKey,
            SignInOptions.scope, SignInOptions.origin, forHost, dpop, par, SignInOptions.parameter,
            SignInOptions.redirect, SignInOptions.anyScheme, grant, assertionFile, development,
            SignInOptions.certificateAuthority, force,
        ],
        details: """
            Built in are bluesky, codeberg (also other hosts with Forgejo or Gitea), github (also Enterprise hosts), gitlab
            (also self-hosted), gmail, google, mastodon (at --host), microsoft, outlook and spotify. For any other server, add
            --issuer.

            Register a client at the server with the redirect URI that provider add prints. Each server has a URI
            of its own (RFC 9700 section 4.4.2.2), and each sign-in adds a port. --redirect sets another URI, such as
            http://localhost:8080/callback if the client is registered with that one. github, gmail, google and mastodon give
            the client a secret.

            With --register, Latchkey registers the client itself (RFC 7591), with a fixed port; --force anew.

            With --resource, Latchkey asks the resource which server signs in for it, and registers a client there unless you pass
            a --client-id. If the resource names several servers, choose one with --issuer. Tokens go to that resource only.

            With --grant, a machine gets its tokens by the client's secret or key, or by a token in --assertion-file (RFC 8693).
            --dpop makes tokens useless without the key (RFC 9449). --par refuses a server without pushed requests (RFC 9126).

            bluesky needs no registration. --client-id may be the URL of a client metadata document that lists the redirect
            URI. Latchkey finds each account's server from its handle or DID.
            """,
        examples: [
            "latchkey provider add github --client-id ID",
            "latchkey provider add work --issuer https://login.example.org --client-id ID",
            "latchkey provider add forge --service codeberg --host git.example.org --client-id ID",
        ], runs: { _ in .worker }, usesNetwork: true
    ) { arguments, context in
        var configuration = try configuration(arguments)
        let registers = arguments.has(register)
        // Other errors are found before the first request.
        try configuration.checkCommandLine()
        let key = try readKey(arguments)
        // Before an unwanted client is registered.
        let former = try confirmReplacing(configuration, arguments, context)
        if configuration.resource != nil {
            try await findServer(of: &configuration, arguments, context)
        } else if case .issuer(let text) = configuration.server {
            let http = context.http(certificateFile: configuration.certificateFile)
            let metadata = try await AuthorizationServerMetadata.discover(
                Issuer(text), over: http, log: context.logger.category("latchkey.oauth"))
            if configuration.usesDPoP, metadata.dpopAlgorithms?.contains("ES256") == false {
                throw OAuthError(.invalidMetadata(.withoutES256))
            }
            if configuration.requiresPushedRequests, metadata.pushedAuthorizationRequestEndpoint == nil {
                throw OAuthError(.invalidMetadata(.withoutPushedRequests))
            }
            if arguments.has(SignInOptions.clientSecret), configuration.secretMethod == nil {
                configuration.secretMethod = try ClientAuthentication.methodWithSecret(
                    offered: metadata.clientAuthenticationMethods)
            }
            if registers { try await register(&configuration, metadata, http, context) }
        } else if registers {
            // The host may have forgotten a client that it gave before.
            if case .builtIn(let service, let host?) = configuration.server, arguments.has(force) {
                try await BuiltInProvider.named(service)?.forgetRegistration(
                    of: configuration.name, at: host, in: try await context.store(of: configuration),
                    deadline: context.deadline)
            }
            try await registerAtHost(&configuration, context)
        }
        if arguments.has(SignInOptions.clientSecret) { try await keepSecret(configuration, context) }
        var publicKey: JSONOutput?
        if let key {
            publicKey = .object(key.publicJWK.map { ($0.name, .text(shown($0.value))) })
            let secret = try mapError(OAuthError.unwritable, of: key.encoded())
            try await keep(secret.repurposed(as: ClientSecret.self), configuration, context)
        }
        // The former server's secret goes to no other one.
        if let former,
            former.clientID != configuration.clientID
                || former.server != configuration.server && publicKey == nil
                    && !arguments.has(SignInOptions.clientSecret)
        {
            do {
                if try await forgetSecret(former, context) {
                    context.output.note("deleted the former client's secret")
                }
            } catch let error as any RedactedError where error.codeName.description == "selection.no-store" {
                // If no store exists, no secret is stored.
            }
        }
        try context.providers.write(configuration)
        if let former, former.json.text != configuration.json.text {
            await tellOfSessions(of: former, replacedBy: configuration, context)
        }
        let verb: StaticString = former == nil ? "added" : "replaced"
        var result: [(name: StaticString, value: JSONOutput)] = [
            ("provider", .message("\(configuration.name)")), ("change", .message("\(verb)")),
        ]
        if let publicKey { result.append(("client_key", publicKey)) }
        try context.output.tell("\(verb) the provider \(configuration.name)", json: .object(result))
        if let publicKey, !context.output.isJSON { try context.output.write(publicKey) }
        if configuration.grant != nil { return .success }
        try context.tellRedirect(of: configuration)
        if configuration.redirect != nil {
            try context.warnOfSharedRedirect(configuration.provider().redirect, of: configuration)
        }
        return .success
    }

    /// Deletes a machine's token of the former settings, and warns of sessions that can't be used with the new ones. Does
    /// nothing if the store can't be opened without a question.
    private static func tellOfSessions(
        of former: ProviderConfiguration, replacedBy new: ProviderConfiguration, _ context: CommandContext
    ) async {
        let (name, deadline) = (former.name, context.deadline)
        guard let sessions = try? await context.askingNobody.sessions(former) else { return }
        if former.grant != nil, let lease = try? await sessions.lease(name.text, deadline: deadline) {
            _ = try? await sessions.delete(name.text, deadline: deadline)
            lease.release()
        }
        let isOther =
            former.clientID != new.clientID || former.server != new.server || former.resource != new.resource
            || new.grant != nil
        guard isOther, let count = try? await sessions.accounts(deadline: deadline).count, count > 0 else { return }
        context.output.warn(
            "\(LogMessage.counted(count, "session belongs", "sessions belong")) to the former settings and can't be used",
            hint: "run `latchkey sign-out \(name) --everywhere`")
    }

    /// The provider that has that name. Asks the person before its settings are lost.
    private static func confirmReplacing(
        _ configuration: ProviderConfiguration, _ arguments: ParsedArguments, _ context: CommandContext
    ) throws -> ProviderConfiguration? {
        let name = configuration.name
        guard let former = try context.providers.read(name) else { return nil }
        var wanted = configuration
        var keepsClient = true
        if wanted.clientID == BuiltInProvider.unregisteredClientID {
            (wanted.clientID, wanted.redirect, wanted.secretMethod) =
                (former.clientID, former.redirect, former.secretMethod)
            // A server registers another client each time, which can't use the former one's sessions.
            if case .issuer = configuration.server { keepsClient = false }
        }
        if arguments.has(force) || keepsClient && wanted.json.text == former.json.text { return former }
        // Without a terminal the answer is no.
        guard context.prompt.isPossible,
            try context.prompt.confirm("Replace the provider \(name) (\(former.serverName))?")
        else {
            throw CommandFailure(
                .refused, "provider.kept", "the provider \(name) exists, and was not changed",
                hint: "choose another name, or add --force to replace the provider without a question")
        }
        return former
    }

    private static func advice(_ name: ProviderName, _ server: ProviderConfiguration.Server) -> LogMessage {
        let configuration = ProviderConfiguration(
            name: name, server: server, clientID: BuiltInProvider.unregisteredClientID)
        let advice = CommandContext.registrationAdvice(for: configuration, then: "provider add \(name) …")
        return server.service?.registersPrograms ?? true ? "\(advice); or add --register" : advice
    }

    private static func configuration(_ arguments: ParsedArguments) throws -> ProviderConfiguration {
        let name = try ProviderName(checking: arguments.operand("NAME"))
        let server: ProviderConfiguration.Server
        let resource = try resource(arguments)
        if let issuer = arguments.value(SignInOptions.issuer) ?? resource {
            server = .issuer(issuer)
            if arguments.value(service) != nil || arguments.value(SignInOptions.host) != nil {
                throw CommandFailure(
                    .usage, "provider.two-servers", "--issuer and --resource can't be used with --service or --host",
                    hint: "remove --issuer and --resource for a built-in service")
            }
        } else {
            server = try builtIn(name, arguments)
        }
        let registers = arguments.has(register)
        if registers {
            guard server.service?.registersPrograms ?? true else {
                throw CommandFailure(
                    .usage, "provider.register", "this service doesn't register clients by itself",
                    hint: "register a client on the service's page, and pass its --client-id")
            }
            guard arguments.value(SignInOptions.clientID) == nil, !arguments.has(SignInOptions.clientSecret)
            else {
                throw CommandFailure(
                    .usage, "provider.register",
                    "--register, which gets a client ID from the server, can't be combined with a client ID or secret",
                    hint: "remove --client-id and --client-secret-stdin, or --register")
            }
        }
        let placeholder = registers || resource != nil ? BuiltInProvider.unregisteredClientID : nil
        let standard = server.service?.standardClientID
        guard let clientID = arguments.value(SignInOptions.clientID) ?? placeholder ?? standard else {
            throw CommandFailure(
                .usage, "provider.no-client-id", "the provider \(name) needs a client ID",
                hint: advice(name, server))
        }
        var configuration = ProviderConfiguration(name: name, server: server, clientID: clientID)
        configuration.scopes = arguments.all(SignInOptions.scope)
        configuration.origins =
            try ProviderConfiguration.origins(arguments) + ProviderConfiguration.originsOfHosts(arguments)
        configuration.grant = arguments.value(grant)
        configuration.assertionFile = arguments.value(assertionFile).map(AbsolutePath.of)
        configuration.parameters = try ProviderConfiguration.parameters(arguments)
        configuration.resource = resource
        guard resource == nil || configuration.origins.isEmpty else {
            throw CommandFailure(
                .usage, "provider.resource", "--resource can't be used with --origin or --for-host",
                hint: "remove them: a resource's tokens go to that resource only")
        }
        configuration.usesDPoP = arguments.has(dpop)
        configuration.requiresPushedRequests = arguments.has(par)
        if configuration.grant != nil, configuration.usesDPoP {
            throw CommandFailure(
                .usage, "provider.unsupported", "--grant and --dpop can't be combined", hint: "remove --dpop")
        }
        if configuration.usesDPoP || configuration.requiresPushedRequests, case .builtIn = server {
            throw CommandFailure(
                .usage, "provider.unsupported", "\(name) supports neither DPoP nor pushed requests",
                hint: "remove --dpop and --par")
        }
        configuration.isRegisteredByUs = registers
        configuration.secretMethod = try secretMethod(
            arguments, hasKey: arguments.has(newClientKey) || arguments.has(clientKey))
        configuration.isDevelopment = arguments.has(development)
        if configuration.isDevelopment, !configuration.findsServerByAccount {
            throw CommandFailure(
                .usage, "provider.unsupported", "--development works with bluesky only",
                hint: "remove --development")
        }
        configuration.redirect = arguments.value(SignInOptions.redirect)
        if let redirect = configuration.redirect {
            _ = try RedirectURI(redirect, allowingAnyPrivateScheme: arguments.has(SignInOptions.anyScheme))
        }
        configuration.certificateFile = arguments.value(SignInOptions.certificateAuthority).map(AbsolutePath.of)
        return configuration
    }

    /// The chosen built-in service, otherwise the one with the provider's name.
    private static func builtIn(
        _ name: ProviderName, _ arguments: ParsedArguments
    ) throws -> ProviderConfiguration.Server {
        let chosen = arguments.value(service) ?? name.text
        guard let service = BuiltInProvider.named(chosen) else {
            throw CommandFailure(
                .usage, "provider.no-issuer", "the provider \(name) needs an issuer",
                hint: "add --issuer URL, or --service with one of \(BuiltInProvider.names)")
        }
        return try server(of: service, host: arguments.value(SignInOptions.host))
    }

    /// Refuses an invalid, an unexpected or a missing host.
    static func server(of service: BuiltInProvider, host: String?) throws -> ProviderConfiguration.Server {
        switch (service.host, host) {
        case (.required, nil):
            throw CommandFailure(
                .usage, "provider.no-host", "\(service.name) is on many hosts, and --host is missing",
                hint: "add --host with the host of your account")
        case (.fixed, _?):
            throw CommandFailure(
                .usage, "provider.no-other-host", "\(service.name) has one host only", hint: "remove --host")
        case (_, let host?) where !BuiltInProvider.isHost(host):
            throw CommandFailure(
                .usage, "provider.host", "--host takes a host name, with or without a port",
                hint: "remove https:// and the path")
        default: return .builtIn(service.name.text, host: host)
        }
    }

    /// Registers the client at the server, with the redirect address that sign-ins will use and a method that the server
    /// offers.
    static func register(
        _ configuration: inout ProviderConfiguration, _ metadata: AuthorizationServerMetadata,
        _ http: any HTTPTransport,
        _ context: CommandContext
    ) async throws {
        guard
            let endpoint = RegistrationEndpoint(
                server: metadata, http: http, log: context.logger.category("latchkey.oauth"))
        else { throw OAuthError(.invalidMetadata(.withoutRegistration)) }
        let method = try ClientAuthentication.methodToRegister(offered: metadata.clientAuthenticationMethods)
        if configuration.redirect == nil {
            configuration.redirect = try configuration.provider().redirect.withFreePort().text
        }
        let provider = try configuration.provider()
        let client = try await endpoint.register(
            ClientRegistration(
                name: "Latchkey", redirects: [provider.redirect], scopes: provider.scopes, method: method,
                usesDPoP: configuration.usesDPoP))
        context.output.note(
            "registered the redirect URI \(provider.redirect), where sign-ins at \(configuration.name) wait for responses"
        )
        configuration.clientID = client.clientID
        switch client.secret {
        case .some(let secret):
            configuration.secretMethod = client.method
            try await keep(secret.duplicate(), configuration, context)
        case .none: break
        }
    }

    /// Registers the client at a service's host: once for each host, because the store contains the result.
    static func registerAtHost(
        _ configuration: inout ProviderConfiguration, _ context: CommandContext
    ) async throws {
        guard let builtIn = configuration.builtIn else { return }
        let asked = try configuration.provider()
        var choices = BuiltInProvider.Choices(name: configuration.name, clientID: configuration.clientID)
        (choices.host, choices.scopes, choices.redirect) = (configuration.host, asked.scopes, asked.redirect)
        let http = context.http(certificateFile: configuration.certificateFile)
        let provider = try await builtIn.registered(
            choices, as: "Latchkey", keptIn: try await context.store(of: configuration),
            context: context.signInContext(http: http), deadline: context.deadline)
        configuration.clientID = provider.clientID
    }
}

extension BuiltInProvider {
    static var names: LogMessage { .joined(all.map { "\($0.name)" }) }
}
