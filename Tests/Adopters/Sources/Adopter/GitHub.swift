public import Latchkey

public func gitHubStatus(
    clientID: String, keptIn store: any CredentialStore, in world: ProgramEnvironment, log: RedactedLogger
) async throws -> Int {
    let gitHub = SignInService(
        provider: try .gitHub(clientID: clientID, scopes: ["read:user"]), store: store,
        context: SignInContext(environment: world, log: log))
    if try await gitHub.currentAccount() == nil {
        try await gitHub.signIn(presenting: .automatic(in: world))
    }
    return try await gitHub.send(GuardedRequest(.get, HTTPURL("https://api.github.com/user"))).status
}
