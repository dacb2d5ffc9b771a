import Latchkey

// The README shows this function word for word.

func gitHubStatus(clientID: String, in environment: ProgramEnvironment, log: RedactedLogger) async throws -> Int {
    let (store, _) = try await StoreSelector.open(in: environment, log: log)
    let gitHub = SignInService(
        provider: try .gitHub(clientID: clientID, scopes: ["read:user"]), store: store,
        context: SignInContext(environment: environment, log: log))
    if try await gitHub.currentAccount() == nil {
        try await gitHub.signIn(presenting: .automatic(in: environment))
    }
    return try await gitHub.send(GuardedRequest(.get, HTTPURL("https://api.github.com/user"))).status
}
