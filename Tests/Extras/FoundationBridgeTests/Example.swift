import Foundation
import FoundationNetworking
import LatchkeyAuthenticator
import LatchkeyCredentials
import LatchkeyFoundation
import LatchkeyHTTP
import LatchkeySignIn
import LatchkeyTestServer
import Testing

// Docs/Authenticator.md shows this function word for word.

func profile(
    at address: URL, of provider: OAuthProvider, asking agent: UserAgent, keptIn store: any CredentialStore,
    context: SignInContext, show: @escaping @Sendable (OAuthAuthenticator.Status) async -> Void
) async throws -> Data {
    var configuration = OAuthAuthenticator.Configuration(
        provider: provider, userAuthenticator: agent, storage: .store(store), context: context)
    configuration.statusHandler = show  // a name and times, or an error: never a token
    let authenticator = try OAuthAuthenticator(config: configuration)
    let (data, _) = try await authenticator.response(for: URLRequest(url: address))
    return data
}

struct ExampleTests {
    @Test func `the page's example signs in, answers, and keeps the login in the store`() async throws {
        let scene = try BridgeScene()
        let store = try InMemoryStore()
        let address = try #require(scene.request.url)
        for _ in 0..<2 {
            let data = try await profile(
                at: address, of: scene.authenticator.configuration.provider, asking: .consenting(), keptIn: store,
                context: scene.authenticator.configuration.context, show: { _ in })
            #expect(String(decoding: data, as: UTF8.self).contains("octocat"))
        }
        #expect(scene.server.record.codesExchanged == 1)
    }
}
