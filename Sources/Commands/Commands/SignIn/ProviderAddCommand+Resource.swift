internal import LatchkeyHTTP
internal import LatchkeyOAuth
internal import LatchkeySignIn

// A resource names its server (RFC 9728), so its address is all that a person needs to know.

extension ProviderAddCommand {
    /// The resource that the command line names.
    static func resource(_ arguments: ParsedArguments) throws -> String? {
        try arguments.value(SignInOptions.resource).map { text in
            try mapError(
                { (error: OAuthError) in CommandFailure(error, .usage) }, of: ProtectedResource.identifier(text))
        }
    }

    /// Asks a resource for its server, and registers a client there unless there is one.
    static func findServer(
        of configuration: inout ProviderConfiguration, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws {
        guard let resource = configuration.resource else { return }
        let http = context.http(certificateFile: configuration.certificateFile)
        let log = context.logger.category("latchkey.oauth")
        let chosen = try arguments.value(SignInOptions.issuer).map { try Issuer($0) }
        let found: Result<ProtectedResource, OAuthError> = await Result(
            awaiting: try await ProtectedResource.discover(resource, over: http, log: log))
        var (reach, scopes) = (AddressReach.anywhere, [String]())
        let issuer: Issuer
        switch found {
        case .success(let found):
            (reach, scopes, configuration.resource) = (found.reach, found.scopes.scopes, found.identifier)
            issuer = try choose(among: found.servers, chosen, context)
        // The person may name the server of a resource that names none, or none that can be used.
        case .failure(let error)
        where error.code == .invalidMetadata(.notFound)
            || chosen != nil && error.code == .invalidMetadata(.elsewhere):
            issuer = try choose(among: [], chosen, context)
        case .failure(let error): throw error
        }
        configuration.server = .issuer(issuer.text)
        let metadata = try await AuthorizationServerMetadata.discover(issuer, over: http.reaching(reach), log: log)
        guard metadata.challengeMethods?.contains("S256") == true else {
            throw OAuthError(.invalidMetadata(.withoutS256))
        }
        if configuration.scopes.isEmpty {
            configuration.scopes = try metadata.withRefreshToken(ScopeList(scopes)).scopes
        }
        // The resource chose the issuer and the scopes. The person sees only the server's own page.
        let wanted = try ScopeList(configuration.scopes)
        let what: LogMessage = wanted.isEmpty ? "" : ", with the scopes \(wanted)"
        context.output.note("the resource has its sign-ins at \(issuer)\(what)")
        if configuration.clientID != BuiltInProvider.unregisteredClientID {
            if arguments.has(SignInOptions.clientSecret), configuration.secretMethod == nil {
                configuration.secretMethod = try ClientAuthentication.methodWithSecret(
                    offered: metadata.clientAuthenticationMethods)
            }
            return
        }
        guard metadata.registrationEndpoint != nil else {
            throw CommandFailure(
                .usage, "provider.no-client-id", "the provider \(configuration.name) needs a client ID",
                hint: registrationAdvice(configuration, issuer))
        }
        configuration.isRegisteredByUs = true
        try await register(&configuration, metadata, http.reaching(reach), context)
    }

    private static func registrationAdvice(_ configuration: ProviderConfiguration, _ issuer: Issuer) -> LogMessage {
        let advice = CommandContext.registrationAdvice(for: configuration, then: "provider add \(configuration.name) …")
        return "\(issuer) doesn't register clients by itself: \(advice)"
    }

    private static func choose(
        among servers: [Issuer], _ chosen: Issuer?, _ context: CommandContext
    ) throws -> Issuer {
        if let server = chosen ?? servers.first, servers.contains(server), chosen != nil || servers.count == 1 {
            return server
        }
        let names = LogMessage.joined(servers.map { "\($0)" })
        switch (chosen, servers.isEmpty) {
        case (let chosen?, true): return chosen
        case (nil, true):
            throw CommandFailure(
                .notFound, "provider.no-server", "the resource doesn't say which server signs in for it",
                hint: "if you know the server, add --issuer URL")
        case (nil, false):
            if context.prompt.isPossible {
                for (number, server) in zip(1..., servers) { context.output.note("\(number): \(server)") }
                let answer = try context.prompt.ask(
                    "Server to sign in at, 1 to \(servers.count)", as: MessageBody.self, limit: 64, isShown: true)
                for (number, server) in zip(1..., servers) where answer.matches("\(number)".utf8.span) {
                    return server
                }
            }
            throw CommandFailure(
                .usage, "provider.several-servers", "the resource names several servers",
                hint: "add --issuer with one of them: \(names)")
        case (_?, false):
            throw CommandFailure(
                .refused, "provider.other-server", "the resource doesn't name the server in --issuer",
                hint: "use one that it names: \(names)")
        }
    }
}
