// The README shows this function word for word.

import Latchkey

func profileStatus(in environment: ProgramEnvironment, log: RedactedLogger) async throws -> Int {
    let (store, _) = try await StoreSelector.open(in: environment, log: log)  // the desktop's keyring, or a vault
    let work = SignInService(
        provider: try .issuer(Issuer("https://login.example.org"), name: "my-app", clientID: "my-client"), store: store,
        context: SignInContext(environment: environment, log: log))
    if try await work.currentAccount() == nil { try await work.signIn(presenting: .automatic(in: environment)) }
    return try await work.send(GuardedRequest(.get, HTTPURL("https://login.example.org/userinfo"))).status
}
