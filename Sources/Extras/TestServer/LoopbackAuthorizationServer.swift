public import LatchkeyLog
internal import LatchkeyLoopback
internal import Synchronization

/// A whole authorization server inside the process, on a loopback address: for tests and demonstrations.
///
/// It supports the authorization code flow with PKCE (S256, always checked), pushed requests, the device grant, refresh
/// with rotation, revocation, DPoP, registration, user information and metadata, and GitHub's endpoints under GitHub's
/// paths. Tests switch faults on. Tokens are in guarded memory. The server stops when the value is released.
///
/// ```swift
/// let server = try LoopbackAuthorizationServer()
/// server.switchOn(.wrongState)
/// // … sign in with `server.issuer` and the client `latchkey`; it must fail …
/// #expect(server.record.requests[.token] == nil)
/// ```
public final class LoopbackAuthorizationServer: Sendable {
    /// The text of every `error_description`: no client may show or log it.
    public static let prose = "prose of the authorization server that nobody may repeat"

    let service: AuthorizationService
    private let server: LoopbackServer

    /// Starts the server.
    ///
    /// Throws if the port is in use, the machine lacks the address, key and certificate don't match, or libmicrohttpd
    /// or libcrypto can't be loaded.
    public init(
        _ configuration: AuthorizationServerConfiguration = AuthorizationServerConfiguration()
    ) throws(StartError) {
        let service = try mapError(
            { StartError(LoopbackError(.noLibrary($0), port: configuration.port)) },
            of: AuthorizationService(configuration: configuration))
        let server = try mapError(
            StartError.init,
            of: LoopbackServer(
                LoopbackServer.Configuration(
                    family: configuration.family.loopback, port: configuration.port,
                    methods: [.get, .head, .post, .delete],
                    maximumConnectionCount: configuration.maximumConnectionCount, tls: configuration.tls?.loopback)
            ) { request in await service.respond(to: request) })
        service.state.withLock { $0.origin = server.origin }
        self.service = service
        self.server = server
    }

    /// Stops the server; requests under way get no response.
    public func stop() {
        server.stop()
    }

    // MARK: - Addresses

    /// `http://127.0.0.1:PORT`, or the like.
    public var origin: String { server.origin }
    /// The port that the server listens on, whichever was configured.
    public var port: UInt16 { server.port }
    /// The origin and the configured path.
    public var issuer: String { service.issuer }
    /// Where the person is sent (RFC 6749 section 3.1).
    public var authorizationEndpoint: String { origin + "/authorize" }
    /// Where codes and refresh tokens are exchanged (RFC 6749 section 3.2).
    public var tokenEndpoint: String { origin + "/token" }
    /// Where tokens are revoked (RFC 7009).
    public var revocationEndpoint: String { origin + "/revoke" }
    /// The endpoint for the account that signed in (OpenID Connect Core section 5.3).
    public var userInfoEndpoint: String { origin + "/userinfo" }
    /// Where GitHub's web flow begins.
    public var gitHubAuthorizationEndpoint: String { origin + "/login/oauth/authorize" }
    /// Where GitHub's web flow and device flow end.
    public var gitHubTokenEndpoint: String { origin + "/login/oauth/access_token" }
    /// GitHub's `GET /user`.
    public var gitHubUserEndpoint: String { origin + "/user" }
    /// Where `DELETE` ends a token of this client.
    public func gitHubRevocationEndpoint(client identifier: String) -> String {
        origin + "/applications/\(identifier)/token"
    }

    // MARK: - What goes wrong

    /// Switches a fault on until it is switched off.
    public func switchOn(_ fault: AuthorizationServerFault) {
        _ = service.state.withLock { $0.faults.insert(fault) }
    }

    /// Switches a fault off. One that isn't on does no harm.
    public func switchOff(_ fault: AuthorizationServerFault) {
        _ = service.state.withLock { $0.faults.remove(fault) }
    }

    /// Switches every fault off.
    public func switchOffAllFaults() {
        service.state.withLock { $0.faults = [] }
    }

    /// Lets all access tokens expire now, as if their lifetime had passed.
    public func expireAccessTokens() {
        service.state.withLock { state in
            for (digest, token) in state.tokens where token.kind == .access { state.tokens[digest]?.expiry = .now }
        }
    }

    /// Signs ID tokens with a new key from now on; the old one leaves the key set.
    public func rotateSigningKey() {
        service.identityTokens.rotate()
    }

    /// Revokes all tokens, as a person does on the server's page of connected applications.
    public func revokeEverything() {
        service.state.withLock { state in
            for digest in Array(state.tokens.keys) { state.tokens[digest]?.isRevoked = true }
        }
    }

    // MARK: - What was seen

    /// Counts and findings so far, without any secret.
    public var record: AuthorizationServerRecord { service.state.withLock { $0.record } }

    /// Lends each received or sent secret, with its parameter's name: codes, tokens, states, verifiers, nonces, client
    /// secrets. Audits search output for them. The bytes stay in guarded memory.
    ///
    /// Throws only the error of `body`.
    public func withEachSecret<Failure: Error>(
        _ body: (_ name: String, borrowing Secret<MessageBody>) throws(Failure) -> Void
    ) throws(Failure) {
        let secrets = service.state.withLock { Array($0.seen.values) }
        for secret in secrets { try body(secret.name, secret.value) }
    }
}

extension LoopbackAuthorizationServer {
    /// The reason why a server can't start: its port is in use, the machine lacks the address, or key and certificate
    /// don't match.
    public struct StartError: RedactedError, Hashable {
        let error: LoopbackError

        init(_ error: LoopbackError) { self.error = error }

        public var explanation: Explanation { error.explanation }
    }
}

extension AuthorizationServerConfiguration {
    /// Which loopback address a server listens on.
    public enum AddressFamily: Sendable, Hashable {
        /// 127.0.0.1
        case ipv4
        /// ::1
        case ipv6

        var loopback: LoopbackServer.Family {
            switch self {
            case .ipv4: .ipv4
            case .ipv6: .ipv6
            }
        }
    }

    /// A certificate and its key, both PEM.
    public struct TLS: Sendable {
        let loopback: LoopbackTLS

        /// Nothing is checked before the server starts. The key is duplicated.
        public init(certificatePEM: String, key: borrowing Secret<PrivateKey>) {
            loopback = LoopbackTLS(certificatePEM: certificatePEM, key: key)
        }
    }
}
