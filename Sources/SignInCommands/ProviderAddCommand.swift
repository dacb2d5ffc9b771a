internal import Credentials
internal import HTTPTransport
internal import OAuth
internal import RedactedLog
internal import Secrets
internal import SignIn
internal import StoreCommands
internal import StoreSelection
internal import Terminal

/// `latchkey provider add NAME`.
enum ProviderAddCommand {
    static let command = Command(SignInDefinitions.providerAdd) { arguments, context in
        var configuration = try configuration(arguments)
        // Whatever is wrong with the rest is found before the server is asked.
        do {
            _ = try configuration.provider()
        } catch let error as OAuthError {
            throw CommandFailure(error, .usage)
        }
        if case .issuer(let text) = configuration.server {
            let http = context.http(certificateFile: configuration.certificateFile)
            let metadata = try await ServerMetadata.discover(
                Issuer(text), over: http, log: context.logger.category("latchkey.oauth"))
            if configuration.usesDPoP, metadata.dpopAlgorithms?.contains("ES256") == false {
                throw OAuthError(.invalidMetadata(.withoutES256))
            }
            if arguments.has(SignInDefinitions.clientSecret) {
                let offered = metadata.clientAuthenticationMethods
                configuration.secretMethod = offered?.contains(.secretBasic) ?? true ? .secretBasic : .secretPost
            }
        }
        let isReplaced = try context.providers.read(configuration.name) != nil
        if arguments.has(SignInDefinitions.clientSecret) { try await keepSecret(configuration, context) }
        try context.providers.write(configuration)
        let verb: StaticString = isReplaced ? "replaced" : "added"
        context.output.note("\(verb) the provider \(configuration.name)")
        return .success
    }

    private static func configuration(_ arguments: ParsedArguments) throws -> ProviderConfiguration {
        let name = try ProviderName(checking: arguments.operand("NAME"))
        let server: ProviderConfiguration.Server
        if let issuer = arguments.value(SignInDefinitions.issuer) {
            server = .issuer(issuer)
        } else if ProviderConfiguration.builtIns.contains(name.text) {
            server = .builtIn(name.text)
        } else {
            throw CommandFailure(
                .usage, "provider.no-issuer", "the provider \(name) needs an issuer",
                hint: "give --issuer URL; github and spotify are built in")
        }
        guard let clientID = arguments.value(SignInDefinitions.clientID) else {
            throw CommandFailure(
                .usage, "provider.no-client-id", "the provider \(name) needs a client id",
                hint: "register a client with the server, and give its --client-id")
        }
        var configuration = ProviderConfiguration(name: name, server: server, clientID: clientID)
        configuration.scopes = arguments.all(SignInDefinitions.scope)
        configuration.usesDPoP = arguments.has(SignInDefinitions.dpop)
        if configuration.usesDPoP, case .builtIn = server {
            throw CommandFailure(
                .usage, "provider.no-dpop", "\(name) has no DPoP", hint: "leave --dpop out")
        }
        configuration.redirect = arguments.value(SignInDefinitions.redirect)
        configuration.certificateFile = arguments.value(SignInDefinitions.certificateAuthority).map(AbsolutePath.of)
        return configuration
    }

    private static func keepSecret(_ configuration: ProviderConfiguration, _ context: CommandContext) async throws {
        let provider = try configuration.provider()
        let secret = try SecretInput.readAll(as: ClientSecret.self, limit: 4096)
        // Refuses what no server takes, such as a line break at the end.
        do throws(OAuthError) {
            _ = try ClientAuthentication.secretBasic(secret.duplicate())
        } catch {
            throw CommandFailure(error, .badData)
        }
        let view = try await context.openView()
        let store = try await view.store(
            forService: SessionStore.service(ofProvider: configuration.name.text), deadline: context.deadline)
        let key = try SignInService.clientSecretKey(of: provider)
        try await store.save(
            secret, for: key,
            options: SaveOptions(label: "Client secret of \(provider.name)", contentType: .text),
            deadline: context.deadline)
        try await context.warnOfOtherPlaces(of: key, savedIn: store, view)
    }
}
