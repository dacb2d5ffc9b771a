public import Latchkey
public import LatchkeyATProtocol

/// Somebody's account at Bluesky, or at any other server of AT Protocol.
public struct Sky: Sendable {
    private let client: ATProtocolClient

    /// - Parameters:
    ///   - resolver: finds accounts (default: the network's resolver).
    ///   - reach: the addresses that it may connect to.
    public init(
        store: any CredentialStore, context: SignInContext, resolver: (any IdentityResolver)? = nil,
        reach: NetworkReach = .publicInternet
    ) throws {
        // A loopback client needs no registration: its id holds its metadata.
        let configuration = ATProtocolConfiguration(
            client: .loopback, redirect: try RedirectURI("http://127.0.0.1/callback"), reach: reach)
        client = ATProtocolClient(configuration: configuration, store: store, context: context, resolver: resolver)
    }

    /// The DID of the account that is signed in; the person is asked where there is none.
    public func account(_ handle: String, presenting agent: UserAgent) async throws -> String? {
        if let session = try await client.currentSession() { return session.subject }
        return try await client.authenticate(handle: handle, presenting: agent, deadline: .after(.seconds(300))).subject
    }

    /// A request with token and proof to the account's own server; another server is refused.
    public func status(of method: String, at server: String) async throws -> Int {
        try await client.send(GuardedRequest(.get, HTTPURL("\(server)/xrpc/\(method)"))).status
    }

    /// Revokes the tokens, and deletes them and their key.
    public func signOut() async { _ = await client.signOut() }
}
