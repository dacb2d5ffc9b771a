import Foundation
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeyProcess
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyTestServer
import TestServices
import Testing

// Docs/HowTo/sign-in-in-swift.md shows these functions word for word.

func signedIn(
    at provider: OAuthProvider, store: any CredentialStore, environment: ProgramEnvironment, log: RedactedLogger
) async throws -> SignInService {
    let service = SignInService(
        provider: provider, store: store, context: SignInContext(environment: environment, log: log))
    if try await service.currentAccount() == nil {
        try await service.signIn(presenting: .automatic(in: environment))
    }
    return service
}

struct UserInformation: Decodable { let sub: String }

func userInformation(of service: SignInService, at address: String) async throws -> UserInformation {
    let response = try await service.send(GuardedRequest(.get, HTTPURL(address)))
    return try response.body.withExposedBytes { bytes in
        try JSONDecoder().decode(UserInformation.self, from: Data(bytes.indices.map { bytes[$0] }))
    }
}

struct SignInExampleTests {
    @Test func `the example finds the session, and decodes a response`() async throws {
        let server = try LoopbackAuthorizationServer()
        let directory = try TestDirectory()
        let environment = ProgramEnvironment(variables: try directory.environment(), home: directory.path)
        let provider = try OAuthProvider.issuer(
            Issuer(server.issuer), name: "test", clientID: "latchkey", scopes: ["read"])
        let store = try InMemoryStore()
        let context = SignInContext(environment: environment, log: .disabled)
        let first = SignInService(provider: provider, store: store, context: context)
        try await first.signIn(presenting: .consenting())
        let service = try await signedIn(at: provider, store: store, environment: environment, log: .disabled)
        #expect(try await userInformation(of: service, at: server.userInfoEndpoint).sub == "octocat")
    }
}
