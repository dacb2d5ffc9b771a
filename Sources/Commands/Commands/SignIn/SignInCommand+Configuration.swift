internal import LatchkeyOAuth
internal import LatchkeySignIn

extension SignInCommand {
    /// The file's settings, replaced by those of the command line for this call. A built-in provider needs no file: a
    /// client ID, or a host that gives one, creates the file.
    static func configuration(
        _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> (ProviderConfiguration, isNew: Bool) {
        let name = try ProviderName(checking: arguments.operand("PROVIDER"))
        var configuration: ProviderConfiguration
        let known = try context.providers.read(name)
        let host = arguments.value(SignInOptions.host)
        let issuer = arguments.value(SignInOptions.issuer)
        let resource = try ProviderAddCommand.resource(arguments)
        guard host == nil || resource == nil else {
            throw CommandFailure(
                .usage, "provider.two-servers", "--resource and --host can't be combined",
                hint: "remove one of the options")
        }
        guard host == nil || issuer == nil else {
            throw CommandFailure(
                .usage, "provider.two-servers", "--issuer and --host can't be combined",
                hint: "remove one of the options")
        }
        if let known {
            guard host == nil || known.host == host else {
                throw CommandFailure(
                    .usage, "provider.other-host", "the provider \(name) has another host",
                    hint:
                        "use a new name for that host: latchkey provider add NAME --service SERVICE --host HOST"
                )
            }
            guard resource == nil || resource == known.resource || resource.map({ $0 + "/" }) == known.resource else {
                throw CommandFailure(
                    .usage, "provider.other-resource", "the provider \(name) is for another resource, or for none",
                    hint: "use a new name for that resource: latchkey sign-in NAME --resource URL")
            }
            guard issuer.map({ known.server == .issuer($0) }) ?? true else {
                throw CommandFailure(
                    .usage, "provider.other-issuer", "the provider \(name) has another issuer",
                    hint: "use a new name for that server: latchkey sign-in NAME --issuer URL --client-id ID")
            }
            configuration = known
            try await checkServer(of: known, context)
        } else if let issuer = issuer ?? resource {
            configuration = try Self.configuration(name, atIssuer: issuer, resource, arguments)
            if resource != nil { try await ProviderAddCommand.findServer(of: &configuration, arguments, context) }
        } else if let host, let builtIn = BuiltInProvider.named(name.text) {
            configuration = try await configurationAtHost(builtIn, host, arguments, context)
        } else if let builtIn = BuiltInProvider.named(name.text), builtIn.host != .required,
            let clientID = arguments.value(SignInOptions.clientID) ?? builtIn.standardClientID
        {
            configuration = ProviderConfiguration(
                name: name, server: .builtIn(name.text, host: nil), clientID: clientID)
        } else {
            configuration = try context.configuration(arguments)
        }
        if let clientID = arguments.value(SignInOptions.clientID), clientID != configuration.clientID {
            // A session is only valid for its client, so the file must have that client.
            throw CommandFailure(
                .usage, "provider.other-client-id", "the provider \(name) has another client ID",
                hint: "run `latchkey provider add \(name) --force` with the new client ID")
        }
        let scopes = arguments.all(SignInOptions.scope)
        if !scopes.isEmpty { configuration.scopes = scopes }
        let parameters = try ProviderConfiguration.parameters(arguments)
        if !parameters.isEmpty { configuration.parameters = parameters }
        if let method = try ProviderAddCommand.secretMethod(arguments) {
            configuration.secretMethod = method
            configuration.hasOneMethod = true
        } else if arguments.has(SignInOptions.clientSecret), configuration.secretMethod == nil, resource == nil,
            case .issuer(let issuer) = configuration.server
        {
            let metadata = try await AuthorizationServerMetadata.discover(
                Issuer(issuer), over: context.http(certificateFile: configuration.certificateFile),
                log: context.logger.category("latchkey.oauth"))
            configuration.secretMethod = try ClientAuthentication.methodWithSecret(
                offered: metadata.clientAuthenticationMethods)
        }
        return (configuration, known == nil)
    }

    /// A server that isn't built in, as `provider add` would add it.
    private static func configuration(
        _ name: ProviderName, atIssuer issuer: String, _ resource: String?, _ arguments: ParsedArguments
    ) throws -> ProviderConfiguration {
        var configuration = ProviderConfiguration(
            name: name, server: .issuer(issuer), clientID: BuiltInProvider.unregisteredClientID)
        configuration.resource = resource
        configuration.scopes = arguments.all(SignInOptions.scope)
        configuration.redirect = arguments.value(SignInOptions.redirect)
        configuration.certificateFile = arguments.value(SignInOptions.certificateAuthority).map(AbsolutePath.of)
        if let redirect = configuration.redirect {
            _ = try RedirectURI(redirect, allowingAnyPrivateScheme: arguments.has(SignInOptions.anyScheme))
        }
        try configuration.checkCommandLine()
        guard let clientID = arguments.value(SignInOptions.clientID) ?? (resource == nil ? nil : configuration.clientID)
        else {
            throw CommandFailure(
                .usage, "provider.no-client-id", "the provider \(name) needs a client ID",
                hint: CommandContext.registrationAdvice(
                    for: configuration,
                    then:
                        "sign-in \(name) --issuer \(LoggableText(reviewed: "an issuer from the command line", unredacted: issuer))"
                ))
        }
        configuration.clientID = clientID
        return configuration
    }

    /// A resource may have moved to another server, which has given this client nothing: a client is registered there
    /// first.
    private static func checkServer(of known: ProviderConfiguration, _ context: CommandContext) async throws {
        guard let resource = known.resource, case .issuer(let issuer) = known.server,
            let found = try? await ProtectedResource.discover(
                resource, over: context.http(certificateFile: known.certificateFile),
                log: context.logger.category("latchkey.oauth")), !found.servers.isEmpty,
            !found.servers.contains(where: { $0.text.hasSameOctets(as: issuer) })
        else { return }
        throw CommandFailure(
            .refused, "provider.server-changed", "the resource of \(known.name) now names another server",
            hint: "if you trust it, run `latchkey provider add \(known.name) --resource URL --force`")
    }

    /// A host that gives any program a client gets a request for one, unless it has given it before.
    private static func configurationAtHost(
        _ builtIn: BuiltInProvider, _ host: String, _ arguments: ParsedArguments, _ context: CommandContext
    ) async throws -> ProviderConfiguration {
        let server = try ProviderAddCommand.server(of: builtIn, host: host)
        let given = arguments.value(SignInOptions.clientID)
        guard let clientID = given ?? builtIn.standardClientID ?? (builtIn.registersPrograms ? "" : nil) else {
            throw CommandFailure(
                .usage, "provider.no-client-id", "the provider \(builtIn.name) needs a client ID",
                hint: CommandContext.registrationAdvice(
                    for: ProviderConfiguration(
                        name: builtIn.name, server: server, clientID: BuiltInProvider.unregisteredClientID),
                    then:
                        "sign-in \(builtIn.name) --host \(LoggableText(reviewed: "a host's name from the command line", unredacted: host))"
                ))
        }
        let registers = clientID.isEmpty
        var configuration = ProviderConfiguration(
            name: builtIn.name, server: server,
            clientID: registers ? BuiltInProvider.unregisteredClientID : clientID)
        // Each refresh needs the certificate of the host.
        configuration.certificateFile = arguments.value(SignInOptions.certificateAuthority).map(AbsolutePath.of)
        configuration.isRegisteredByUs = registers
        if registers {
            configuration.scopes = arguments.all(SignInOptions.scope)
            try await ProviderAddCommand.registerAtHost(&configuration, context)
        }
        return configuration
    }
}
