package import LatchkeyCredentials
internal import LatchkeyHTTP
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySystem

extension BuiltInProvider {
    /// How a program becomes a client at a host by itself.
    struct Registration: Sendable {
        let path: String
        let dialect: RegistrationEndpoint.Dialect
    }

    /// Whether each host gives a client id to any program that requests one; see `registered`.
    package var registersPrograms: Bool { registration != nil }

    /// Returns the provider at a host where the program registers by itself: once for each host.
    ///
    /// What the host gave is kept in the store, client id and client secret as two items, and taken from there from
    /// then on; a request goes to the host again when the redirect address is another or a scope is new. Among all
    /// processes one registers.
    ///
    /// Throws `.oauth(.invalidMetadata(.withoutRegistration))` for a service that doesn't register programs, and as
    /// `RegistrationEndpoint.register` does.
    ///
    /// - Parameters:
    ///   - choices: the client id in it is not used.
    ///   - program: what people see on the host's pages.
    package func registered(
        _ choices: Choices, as program: String, keptIn store: any CredentialStore, context: SignInContext,
        deadline: Deadline = .standard
    ) async throws(SignInError) -> OAuthProvider {
        guard let registration else { throw .oauth(OAuthError(.invalidMetadata(.withoutRegistration))) }
        var choices = choices
        choices.clientID = "to-be-registered"
        let wanted = try made(choices)
        let endpoint = try endpoint(registration, choices.host ?? "")
        let clients = StoredClients(store: store, provider: choices.name, host: endpoint.origin, deadline: deadline)
        let lease = try await mapError(SignInError.store, awaiting: await clients.lease(context.leases))
        let (former, isGood) = try await former(clients, choices, serving: wanted)
        if let former, isGood {
            lease.release()
            return former
        }
        let identity = try await Self.register(
            wanted, program,
            RegistrationEndpoint(url: endpoint, dialect: registration.dialect, http: context.http, log: context.log))
        choices.clientID = identity.clientID
        let provider = try made(choices)
        try await mappingError(SignInError.store) { () async throws(StoreError) in
            try await clients.save(identity, as: provider)
            // The client that is no longer used: its secret is of no use either.
            if let former, former.clientID != provider.clientID { try await clients.deleteSecret(of: former) }
        }
        context.log.info("registered a client at \(endpoint)")
        lease.release()
        return provider
    }

    /// The provider with the client that a host gave before, and whether it still serves.
    private func former(
        _ clients: StoredClients, _ choices: Choices, serving wanted: OAuthProvider
    ) async throws(SignInError) -> (OAuthProvider?, Bool) {
        return try await mappingError(SignInError.store) { () async throws(StoreError) in
            guard let known = try await clients.load() else { return (nil, false) }
            var choices = choices
            choices.clientID = known.clientID
            // A client id that is damaged makes no provider; then the host gives another.
            guard let former = try? provider(choices) else { return (nil, false) }
            return (former, known.serves(wanted) ? try await clients.hasSecret(of: former) : false)
        }
    }

    /// Forgets what a host gave, so that a request goes to it again. The client's secret stays where it is.
    package func forgetRegistration(
        of name: ProviderName, at host: String, in store: any CredentialStore, deadline: Deadline = .standard
    ) async throws(SignInError) {
        guard let registration else { return }
        let endpoint = try endpoint(registration, host)
        try await mapError(
            SignInError.store,
            awaiting: await StoredClients(store: store, provider: name, host: endpoint.origin, deadline: deadline)
                .delete())
    }

    private func made(_ choices: Choices) throws(SignInError) -> OAuthProvider {
        return try mapError(SignInError.oauth, of: provider(choices))
    }

    private func endpoint(_ registration: Registration, _ host: String) throws(SignInError) -> HTTPURL {
        return try mapError(SignInError.oauth, of: ServiceHost(host).url(registration.path))
    }

    private static func register(
        _ wanted: OAuthProvider, _ program: String, _ endpoint: RegistrationEndpoint
    ) async throws(SignInError) -> ClientIdentity {
        let method: ClientAuthentication.Method =
            switch wanted.proof {
            case .none: .none
            case .secret(let method), .secretIfPresent(let method): method
            }
        return try await mapError(
            SignInError.oauth,
            awaiting: await endpoint.register(
                ClientRegistration(name: program, redirects: [wanted.redirect], scopes: wanted.scopes, method: method)))
    }
}
