internal import LatchkeyATProtocol
internal import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySignIn
internal import LatchkeyCommandLine

extension ProviderConfiguration {
    /// Whether the server is found by the account (AT Protocol).
    var findsServerByAccount: Bool {
        guard case .builtIn(let service, _) = server else { return false }
        return BuiltInProvider.named(service)?.findsServerByAccount ?? false
    }

    /// - Parameter redirect: in place of the configured one.
    fileprivate func atProtocol(redirect other: RedirectURI? = nil) throws -> ATProtocolConfiguration {
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
    /// What signs in at AT Protocol, over a store.
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

    /// The service of one account, for what all providers' sessions have in common.
    ///
    /// Where no account is signed in, the one that says so.
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
