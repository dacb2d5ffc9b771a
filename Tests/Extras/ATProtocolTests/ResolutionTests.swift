import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySignIn
import LatchkeyTestServer
import Synchronization
import Testing
import TestServices

@testable import LatchkeyATProtocol

/// From a handle or a DID to an account's servers, verified in both directions.
struct ResolutionTests {
    private static let other = "did:plc:aaaaaaaaaaaaaaaaaaaaaaaa"

    private func error(
        _ scene: NetworkScene, _ identifier: String = "alice.test"
    ) async throws -> ATProtocolError.Code? {
        let resolver = try scene.resolver
        do throws(ATProtocolError) {
            _ = try await resolver.identity(of: AccountIdentifier(identifier))
            return nil
        } catch {
            return error.code
        }
    }

    @Test func `the DNS is asked first, and the host if the DNS has no DID`() async throws {
        let scene = try NetworkScene()
        let identity = try await scene.resolver.identity(of: AccountIdentifier("alice.test"))
        #expect(identity.did.text == scene.network.did && identity.handle?.text == "alice.test")
        #expect(identity.personalServer.origin == scene.network.personalServerOrigin)
        #expect(scene.network.requests["/.well-known/atproto-did"] == nil)
        scene.names.records.withLock { $0 = ["_atproto.alice.test": ["v=spf1 -all"]] }
        #expect(try await scene.resolver.identity(of: AccountIdentifier("Alice.Test")) == identity)
        #expect(scene.network.requests["/.well-known/atproto-did"] == 1)
        #expect(scene.names.asked.withLock { $0 } == ["_atproto.alice.test", "_atproto.alice.test"])
    }

    @Test func `after a DNS failure the host is asked`() async throws {
        let scene = try NetworkScene()
        scene.names.failure.withLock { $0 = NameLookupError(.tryAgain) }
        #expect(try await error(scene) == nil)
        scene.network.change { $0.servedDID = nil }
        #expect(try await error(scene) == .handleNotFound)
    }

    @Test func `without a name server a handle isn't called missing`() async throws {
        struct WithoutNames: HTTPTransport {
            func send(
                _ request: consuming GuardedRequest, limits: TransferLimits
            ) async throws(TransportError) -> GuardedResponse {
                throw TransportError(
                    .cannotResolveHost, origin: LoggableText(reviewed: "a test", unredacted: "nowhere"))
            }
        }
        let scene = try NetworkScene()
        let resolver = NetworkIdentityResolver(http: WithoutNames(), names: scene.names)
        let handle = try ATProtocolHandle("alice.test")
        scene.names.records.withLock { $0 = [:] }
        await #expect(throws: ATProtocolError(.handleNotFound)) { _ = try await resolver.did(of: handle) }
        scene.names.failure.withLock { $0 = NameLookupError(.tryAgain) }
        let error = await #expect(throws: ATProtocolError.self) { _ = try await resolver.did(of: handle) }
        guard case .network(let cause) = error?.code else { throw try #require(error) }
        #expect(cause.code == .cannotResolveHost)
    }

    @Test(arguments: [429, 500, 503])
    func `a host that can't tell for now doesn't make a handle missing`(status: Int) async throws {
        let scene = try NetworkScene()
        scene.names.records.withLock { $0 = [:] }
        scene.network.change { $0.documentStatus = status }
        #expect(try await error(scene) == .refused(statusCode: status))
    }

    @Test func `a handle that leads to no DID, to two or to an invalid one is refused`() async throws {
        let scene = try NetworkScene()
        scene.names.records.withLock { $0["_atproto.alice.test"] = ["did=" + scene.network.did, "did=" + Self.other] }
        #expect(try await error(scene) == .handleAmbiguous)
        scene.names.records.withLock { $0["_atproto.alice.test"] = ["did=did:key:z6Mk"] }
        #expect(try await error(scene) == .handleNotFound)
        scene.names.records.withLock { $0 = [:] }
        scene.network.change { $0.servedDID = "<html>no</html>" }
        #expect(try await error(scene) == .handleNotFound)
        scene.network.change { $0.servedDID = nil }
        #expect(try await error(scene) == .handleNotFound)
        #expect(try await error(scene, "alice") == .invalidHandle)
    }

    @Test func `a handle that points to another account's DID is refused`() async throws {
        let scene = try NetworkScene()
        let network = scene.network
        scene.names.records.withLock { $0["_atproto.alice.test"] = ["did=" + Self.other] }
        #expect(try await error(scene) == .didNotFound)
        network.change { $0.documents[Self.other] = network.document(handle: "bob.test", id: Self.other) }
        #expect(try await error(scene) == .handleMismatch)
    }

    @Test(arguments: ["bob.test", "", "alice.test.evil.test"])
    func `a DID whose document names another handle, or none, is refused`(handle: String) async throws {
        let scene = try NetworkScene()
        let network = scene.network
        network.change { $0.documents[network.did] = network.document(handle: handle) }
        #expect(try await error(scene) == .handleMismatch)
        // By its DID the account can be found all the same: then no handle is claimed for it.
        #expect(try await scene.resolver.identity(of: AccountIdentifier(network.did)).handle == nil)
    }

    @Test func `a document about another DID is refused`() async throws {
        let scene = try NetworkScene()
        let network = scene.network
        network.change { $0.documents[network.did] = network.document(id: Self.other) }
        #expect(try await error(scene) == .invalidDocument(.notThisDID))
        network.change { $0.documentStatus = 503 }
        #expect(try await error(scene) == .refused(statusCode: 503))
        network.change { $0.documentStatus = 302 }
        #expect(try await error(scene) == .refused(statusCode: 302))
    }

    @Test func `an account of did:web signs in, by its host's own document`() async throws {
        let scene = try NetworkScene(did: "did:web:alice.test")
        #expect(try await scene.signIn().subject == "did:web:alice.test")
        #expect(scene.network.requests["/.well-known/did.json"] == 1)
        #expect(scene.network.requests["directory"] == nil)
        #expect(try await scene.request() == 200)
    }

    @Test func `a DID on localhost is accepted in development only`() async throws {
        let scene = try NetworkScene()
        let port = try #require(try HTTPURL(scene.network.personalServerOrigin).port)
        let did = "did:web:localhost%3A\(port)"
        scene.network.change { $0.documents = [did: scene.network.document(handle: "", id: did)] }
        #expect(try await scene.resolver.identity(of: AccountIdentifier(did)).did.text == did)
        let strict = NetworkIdentityResolver(http: scene.http, names: scene.names)
        await #expect(throws: ATProtocolError(.addressRefused)) { _ = try await strict.document(of: DID(did)) }
    }

    @Test func `an account that leads into a private network is refused before anything is sent there`() async throws {
        let scene = try NetworkScene()
        let network = scene.network
        network.change { $0.documents[network.did] = network.document(server: "https://10.0.0.1") }
        #expect(await scene.failure() == .addressRefused)
        network.change { contents in
            contents.documents[network.did] = network.document()
            contents.resourceMetadata = network.resourceMetadata(servers: ["https://192.168.0.1"])
        }
        #expect(await scene.failure() == .addressRefused)
        #expect(!scene.http.asked.withLock { $0.contains { $0.contains("10.0.0.1") || $0.contains("192.168") } })
    }

    @Test func `an adopter's resolver can't override the DID's document`() async throws {
        struct Careless: IdentityResolver {
            let document: DIDDocument
            func did(of handle: ATProtocolHandle) async throws(ATProtocolError) -> DID {
                try DID("did:web:mallory.test")
            }
            func document(of did: DID) async throws(ATProtocolError) -> DIDDocument { document }
        }
        let scene = try NetworkScene()
        let document = try await scene.resolver.document(of: DID(scene.network.did))
        let client = ATProtocolClient(
            configuration: scene.configuration, store: scene.store, context: scene.context,
            resolver: Careless(document: document))
        await #expect(throws: ATProtocolError.document(.notThisDID)) {
            try await client.authenticate(
                handle: "alice.test", presenting: UserAgent(scene.browser()), deadline: .unhurried)
        }
    }

    /// What counts is the address of the connection, which the transport alone sees (AddressReachTests).
    @Test(arguments: [
        (NetworkReach.publicInternet, AddressReach.publicInternet), (.development, .publicInternetAndLoopback),
    ])
    func `the transport knows to which addresses it may connect`(reach: NetworkReach, addresses: AddressReach)
        async throws
    {
        let http = ReachWitness()
        _ = NetworkIdentityResolver(http: http, reach: reach)
        let folder = try TestDirectory()
        let context = SignInContext(http: http, leases: LeaseDirectory(path: folder.path + "/leases"))
        let configuration = ATProtocolConfiguration(
            redirect: try RedirectURI("http://127.0.0.1/callback"), reach: reach)
        _ = ATProtocolClient(configuration: configuration, store: try InMemoryStore(), context: context)
        let asked = http.asked.withLock { $0 }
        #expect(asked.count >= 2 && Set(asked) == [addresses])
    }
}

private final class ReachWitness: ReachLimitingTransport {
    let asked = Mutex<[AddressReach]>([])

    func reaching(_ reach: AddressReach) -> any HTTPTransport {
        asked.withLock { $0.append(reach) }
        return self
    }

    func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
        -> GuardedResponse
    {
        throw TransportError(.other, origin: LoggableText(reviewed: "a test", unredacted: "nowhere"))
    }
}
