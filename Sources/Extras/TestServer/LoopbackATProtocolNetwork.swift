internal import LatchkeyLog
internal import LatchkeyLoopback
internal import Synchronization

/// A small AT Protocol network inside the process, on loopback addresses: the account's own server, the server that
/// authorizes for it, and the directory of did:plc, each at a separate origin. For tests and demonstrations.
///
/// The network has one account. The authorization server follows the profile and refuses requests that are not pushed,
/// lack a proof, or lack the scope `atproto`. A test can change the responses of the other servers.
public final class LoopbackATProtocolNetwork: Sendable {
    /// The responses of the servers other than the authorization server.
    public struct Contents: Sendable {
        /// Documents by DID, JSON; a DID without one is unknown.
        public var documents: [String: String] = [:]
        /// The response at `/.well-known/atproto-did`, or `nil` for 404.
        public var servedDID: String?
        /// The metadata of the account's server as a resource (RFC 9728), or `nil` for 404.
        public var resourceMetadata: String?
        /// The document at `/client-metadata.json`, or `nil` for 404.
        public var clientMetadata: String?
        /// The status of the documents, and of the response with ``servedDID``, in place of 200.
        public var documentStatus = 200

        init() {}
    }

    /// The account's DID.
    public let did: String
    /// The account's handle.
    public let handle: String
    /// The server that authorizes for the account.
    public let authorizationServer: LoopbackAuthorizationServer
    private let personalServer: LoopbackServer
    private let directoryServer: LoopbackServer
    private let shared: Shared

    fileprivate final class Shared: Sendable {
        let contents = Mutex(Contents())
        let requests = Mutex<[String: Int]>([:])
    }

    /// Starts the three servers.
    ///
    /// Throws as ``LoopbackAuthorizationServer/init(_:)``; none of them is left running then.
    ///
    /// - Parameters:
    ///   - did: the account's; a did:web's document is on the account's own server as well.
    ///   - handle: the account's.
    ///   - configuration: of the authorization server; what the profile asks for is set in it.
    ///   - tls: with which certificate all three speak TLS; `nil`: plain HTTP.
    public init(
        did: String = "did:plc:ewvi7nxzyoun6zhxrhs64oiz", handle: String = "alice.test",
        configuration: AuthorizationServerConfiguration = AuthorizationServerConfiguration(),
        tls: AuthorizationServerConfiguration.TLS? = nil
    ) throws(LoopbackAuthorizationServer.StartError) {
        var configuration = configuration
        configuration.atProtocolAccount = did
        configuration.pushedRequests = .required
        configuration.requiresDPoP = true
        configuration.dpopNonces = true
        configuration.tls = tls
        let authorizationServer = try LoopbackAuthorizationServer(configuration)
        let shared = Shared()
        let service = authorizationServer.service
        let (personalServer, directoryServer) = try mappingError(LoopbackAuthorizationServer.StartError.init) {
            () throws(LoopbackError) in
            let personalServer = try LoopbackServer(LoopbackServer.Configuration(tls: tls?.loopback)) { request in
                shared.count(request.path)
                return Self.personalResponse(request, shared, service)
            }
            let directoryServer = try LoopbackServer(LoopbackServer.Configuration(tls: tls?.loopback)) { request in
                shared.count("directory")
                return shared.document(of: String(request.path.dropFirst()))
            }
            return (personalServer, directoryServer)
        }
        service.state.withLock { $0.resourceOrigin = personalServer.origin }
        self.did = did
        self.handle = handle
        self.authorizationServer = authorizationServer
        (self.personalServer, self.directoryServer) = (personalServer, directoryServer)
        self.shared = shared
        change { contents in
            contents.documents[did] = document()
            contents.servedDID = did
            contents.resourceMetadata = resourceMetadata()
        }
    }

    /// Stops the three servers.
    public func stop() {
        personalServer.stop()
        directoryServer.stop()
        authorizationServer.stop()
    }

    // MARK: - Addresses

    /// The account's own server, such as `http://127.0.0.1:PORT`.
    public var personalServerOrigin: String { personalServer.origin }
    /// The directory of did:plc, for `NetworkIdentityResolver`.
    public var directoryOrigin: String { directoryServer.origin }
    /// A resource that the account's token opens, with a proof: it responds with the DID.
    public var sessionEndpoint: String { personalServer.origin + "/xrpc/com.atproto.server.getSession" }

    // MARK: - What they say

    /// Changes what the servers say.
    public func change(_ body: (inout Contents) -> Void) {
        shared.contents.withLock { body(&$0) }
    }

    /// The account's document.
    ///
    /// - Parameters:
    ///   - handle: in place of the account's own; empty for none.
    ///   - server: in place of the account's own server.
    ///   - id: in place of the account's DID.
    public func document(handle: String? = nil, server: String? = nil, id: String? = nil) -> String {
        let handle = handle ?? self.handle
        return JSONText.object([
            ("@context", JSONText.list(["https://www.w3.org/ns/did/v1"])),
            ("id", JSONText.quote(id ?? did)),
            ("alsoKnownAs", JSONText.list(handle.isEmpty ? [] : ["at://" + handle])),
            ("verificationMethod", "[]"),
            (
                "service",
                "["
                    + JSONText.object([
                        ("id", JSONText.quote("#atproto_pds")),
                        ("type", JSONText.quote("AtprotoPersonalDataServer")),
                        ("serviceEndpoint", JSONText.quote(server ?? personalServer.origin)),
                    ]) + "]"
            ),
        ])
    }

    /// The metadata of the account's server.
    public func resourceMetadata(resource: String? = nil, servers: [String]? = nil) -> String {
        JSONText.object([
            ("resource", JSONText.quote(resource ?? personalServer.origin)),
            ("authorization_servers", JSONText.list(servers ?? [authorizationServer.issuer])),
            ("bearer_methods_supported", JSONText.list(["header"])),
        ])
    }

    /// The number of requests for each path of the account's server; the directory counts as `directory`.
    public var requests: [String: Int] { shared.requests.withLock { $0 } }

    // MARK: - Responses

    private static func personalResponse(
        _ request: consuming LoopbackRequest, _ shared: Shared, _ service: AuthorizationService
    ) -> LoopbackResponse {
        let contents = shared.contents.withLock { $0 }
        switch request.path {
        case "/.well-known/oauth-protected-resource": return json(contents.resourceMetadata)
        case "/.well-known/atproto-did":
            guard let did = contents.servedDID else { return LoopbackResponse(status: 404) }
            return LoopbackResponse(
                status: contents.documentStatus, contentType: "text/plain", publicText: did + "\n")
        case "/.well-known/did.json":
            guard let did = contents.documents.keys.first(where: { $0.hasPrefix("did:web:") }) else {
                return LoopbackResponse(status: 404)
            }
            return shared.document(of: did)
        case "/client-metadata.json": return json(contents.clientMetadata)
        case "/xrpc/com.atproto.server.getSession":
            let did = service.configuration.atProtocolAccount ?? ""
            return service.resource(Input(request), publicText: JSONText.object([("did", JSONText.quote(did))]))
        default: return LoopbackResponse(status: 404)
        }
    }

    private static func json(_ text: String?) -> LoopbackResponse {
        guard let text else { return LoopbackResponse(status: 404) }
        return LoopbackResponse(status: 200, contentType: "application/json", publicText: text)
    }
}

extension LoopbackATProtocolNetwork.Shared {
    fileprivate func count(_ path: String) {
        requests.withLock { $0[path, default: 0] += 1 }
    }

    fileprivate func document(of did: String) -> LoopbackResponse {
        let (document, status) = contents.withLock { ($0.documents[did], $0.documentStatus) }
        guard let document else { return LoopbackResponse(status: 404) }
        return LoopbackResponse(status: status, contentType: "application/json", publicText: document)
    }
}

extension AuthorizationService {
    /// The resource at the account's server, for a token that is bound to a key. The server has separate nonces.
    func resource(_ input: Input, publicText text: String) -> LoopbackResponse {
        var response = resourceResponse(input, text)
        addNonce(to: &response, at: .resource)
        return response
    }

    private func resourceResponse(_ input: Input, _ text: String) -> LoopbackResponse {
        let refusal = LoopbackResponse(
            status: 401, contentType: "application/json", publicText: "{\"error\":\"InvalidToken\"}",
            fields: [LoopbackField("WWW-Authenticate", "DPoP error=\"invalid_token\"")])
        guard let token = input.authorization?.behind(scheme: "dpop") else { return refusal }
        note(token)
        let key: String
        do throws(ProofRefusal) {
            key = try checkProof(of: input, token: token, at: .resource)
        } catch {
            return Self.proofChallenge(error)
        }
        let digest = index.digest(token)
        let isValid = state.withLock { state in
            guard let grant = state.tokens[digest] else { return false }
            return grant.kind == .access && grant.isValid && grant.keyThumbprint == key
        }
        guard isValid else { return refusal }
        return LoopbackResponse(status: 200, contentType: "application/json", publicText: text)
    }
}
