public import Latchkey

/// Who is signed in at a service. The session is in the store that the environment leads to: on a desktop, its keyring.
public struct Profile: Sendable {
    private let service: SignInService
    private let address: String

    /// - Parameter address: where the service says who a token belongs to.
    public init(
        at provider: OAuthProvider, address: String, in environment: ProgramEnvironment, log: RedactedLogger
    ) async throws {
        let (store, choice) = try await StoreSelector.open(in: environment, log: log)
        log.info("the session is kept in \(choice)")
        service = SignInService(
            provider: provider, store: store, context: SignInContext(environment: environment, log: log))
        self.address = address
    }

    /// The name of the account that is signed in, or `nil`.
    public func account() async throws -> String? {
        try await service.currentAccount()?.account
    }

    /// Signs a person in, and returns the account's name.
    public func signIn(presenting agent: UserAgent) async throws -> String {
        try await service.signIn(presenting: agent).account
    }

    /// Writes what the service says to a descriptor. The token is refreshed before it expires.
    public func show(on descriptor: Int32 = 1) async throws {
        let response = try await service.send(GuardedRequest(.get, HTTPURL(address)))
        var output = FileDescriptorSecretSink(descriptor: descriptor)
        try response.body.pour(into: &output)
    }

    /// Revokes the tokens where the service can, and deletes the session.
    public func signOut() async throws {
        if case .failed(let error) = await service.signOut().deletion { throw error }
    }
}
