internal import LatchkeyOAuth
internal import LatchkeySignIn

// MARK: - The client's secret or key

extension ProviderAddCommand {
    /// The method that --client-auth sets, or `nil` without the option.
    ///
    /// - Parameter hasKey: whether the command line sets a key, as that of `provider add` may.
    static func secretMethod(
        _ arguments: ParsedArguments, hasKey: Bool = false
    ) throws -> ClientAuthentication.Method? {
        let hasSecret = arguments.has(SignInOptions.clientSecret)
        let method: ClientAuthentication.Method? =
            switch arguments.value(SignInOptions.clientAuthentication) {
            case "basic": .secretBasic
            case "post": .secretPost
            case "private-key-jwt": .privateKeyJWT
            case "none": ClientAuthentication.Method.none
            default: hasKey ? .privateKeyJWT : nil
            }
        if hasKey, [newClientKey, clientKey, register, SignInOptions.clientSecret].count(where: arguments.has) > 1 {
            throw CommandFailure(
                .usage, "provider.client-key", "a client has one secret or one key",
                hint: "use one of --client-secret-stdin, --new-client-key, --client-key-stdin and --register")
        }
        let takes: (secret: Bool, key: Bool) =
            switch method {
            case .secretBasic?, .secretPost?, nil: (true, false)
            case .privateKeyJWT?: (false, true)
            case ClientAuthentication.Method.none?: (false, false)
            }
        if hasSecret && !takes.secret || hasKey && !takes.key {
            throw CommandFailure(
                .usage, "provider.client-auth", "--client-auth doesn't go with the client secret or key",
                hint: "remove --client-auth, or set the client secret or key that it takes")
        }
        return method
    }

    /// The client's key, made here or read from standard input.
    static func readKey(_ arguments: ParsedArguments) throws -> ES256Key? {
        if arguments.has(newClientKey) { return try ES256Key.generate() }
        guard arguments.has(clientKey) else { return nil }
        let text = try SecretInput.readAll(as: PrivateKey.self, limit: 16 << 10)
        return try mapError({ (error: OAuthError) in CommandFailure(error, .badData) }, of: ES256Key.read(text))
    }

    static func shown(_ text: String) -> LoggableText {
        LoggableText(reviewed: "the public half of a key", unredacted: text)
    }

    /// Stores the client secret from standard input, or from the person at a terminal.
    static func keepSecret(_ configuration: ProviderConfiguration, _ context: CommandContext) async throws {
        let secret =
            SecretInput.isTerminal()
            ? try mapError(
                { (error: PromptError) in
                    CommandFailure(error, otherwise: "pipe the secret in: latchkey … --client-secret-stdin < FILE")
                },
                of: context.prompt.ask("Client secret of \(configuration.name)", as: ClientSecret.self, limit: 4096))
            : try SecretInput.readAll(as: ClientSecret.self, limit: 4096).withoutLineBreak()
        // Refuses what no server takes, such as more lines.
        if let error = failure(OAuthError.self, of: try ClientAuthentication.secretBasic(secret.duplicate())) {
            throw CommandFailure(error, .badData)
        }
        try await keep(secret, configuration, context)
    }

    /// Deletes the client secret of a provider that is not, or no longer, there. Returns whether it had one.
    static func forgetSecret(
        _ configuration: ProviderConfiguration, _ context: CommandContext
    ) async throws -> Bool {
        let key = try SignInService.clientSecretKey(of: configuration.provider())
        // Also if the command was cancelled.
        return try await Task {
            let store = try await context.store(of: configuration)
            return try await store.delete(key, condition: .none, deadline: context.deadline)
        }.value
    }

    static func keep(
        _ secret: consuming Secret<ClientSecret>, _ configuration: ProviderConfiguration, _ context: CommandContext
    ) async throws {
        let provider = try configuration.provider()
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
