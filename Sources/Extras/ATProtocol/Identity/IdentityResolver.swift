public import LatchkeyHTTP
public import LatchkeyLog
internal import LatchkeySecrets

/// Finds who an account is. Shipped: ``NetworkIdentityResolver``; tests and adopters may have their own.
public protocol IdentityResolver: Sendable {
    /// Returns the DID that a handle leads to. Throws `.handleNotFound` when it leads to none.
    func did(of handle: ATProtocolHandle) async throws(ATProtocolError) -> DID

    /// Returns a DID's document. Throws `.didNotFound`, `.invalidDocument`, and `.network` or `.refused` without a
    /// response.
    func document(of did: DID) async throws(ATProtocolError) -> DIDDocument
}

/// An account whose handle and DID were found to name each other.
package struct ResolvedIdentity: Sendable, Hashable {
    package let did: DID
    /// The handle, or `nil` if the DID was passed, because then the handle isn't looked up.
    package let handle: ATProtocolHandle?
    package let personalServer: HTTPURL
}

extension IdentityResolver {
    /// Returns an account's identity, verified in both directions.
    ///
    /// Throws `.handleMismatch` when the document that the handle leads to names another handle or none.
    package func identity(of identifier: AccountIdentifier) async throws(ATProtocolError) -> ResolvedIdentity {
        switch identifier {
        case .did(let did):
            let document = try await checkedDocument(of: did)
            return ResolvedIdentity(did: did, handle: nil, personalServer: document.personalServer)
        case .handle(let handle):
            let did = try await did(of: handle)
            let document = try await checkedDocument(of: did)
            guard document.claimedHandle == handle else { throw ATProtocolError(.handleMismatch) }
            return ResolvedIdentity(did: did, handle: handle, personalServer: document.personalServer)
        }
    }

    /// Another program's resolver may respond with another DID's document.
    private func checkedDocument(of did: DID) async throws(ATProtocolError) -> DIDDocument {
        let document = try await document(of: did)
        guard document.did == did else { throw .document(.notThisDID) }
        return document
    }
}

/// Finds accounts as AT Protocol says: handles by DNS and HTTPS, DIDs in the directory of did:plc and on the hosts of
/// did:web.
///
/// Redirects are not followed, responses are bounded (64 KiB for a document, 2 KiB for a DID, 30 s for each), and
/// nothing is cached.
public struct NetworkIdentityResolver: IdentityResolver {
    private let http: any HTTPTransport
    private let names: any TextRecordLookup
    private let directory: HTTPURL
    private let reach: NetworkReach
    private let log: RedactedLogger

    /// `https://plc.directory`.
    public static var standardDirectory: HTTPURL {
        guard let url = try? HTTPURL("https://plc.directory") else {
            preconditionFailure("malformed URL in the source")
        }
        return url
    }

    /// Makes the resolver, without a request.
    ///
    /// - Parameters:
    ///   - http: the transport, which has to limit its connections to the addresses that `reach` permits: a
    ///     `CurlTransport` does.
    ///   - names: the lookup of handles in the DNS; by default the system's.
    ///   - directory: the origin of the did:plc directory.
    ///   - reach: the servers that may get requests.
    ///   - log: gets a line for each request and each DNS response.
    public init(
        http: any HTTPTransport, names: any TextRecordLookup = SystemTextRecordLookup(),
        directory: HTTPURL = NetworkIdentityResolver.standardDirectory, reach: NetworkReach = .publicInternet,
        log: RedactedLogger = .disabled
    ) {
        self.http = http.reaching(reach.addresses)
        self.names = names
        self.directory = directory
        self.reach = reach
        self.log = log
    }

    // MARK: - Handles

    /// Queries the DNS for `_atproto.HANDLE`; when it names no DID, requests `/.well-known/atproto-did` from the host.
    ///
    /// Throws `.handleAmbiguous` when the DNS names two DIDs; `.handleNotFound` when neither way leads to a valid one;
    /// `.network` when the host gives no response, or isn't found while the DNS gives none; and `.refused` when the host
    /// can't tell for now.
    public func did(of handle: ATProtocolHandle) async throws(ATProtocolError) -> DID {
        let (recorded, hasDNS) = try await recordedDID(of: handle)
        guard let text = if let recorded { recorded } else { try await servedDID(of: handle, hasDNS: hasDNS) },
            let did = try? DID(text)
        else { throw ATProtocolError(.handleNotFound) }
        return did
    }

    /// Returns the DID in the DNS, if any, and whether the DNS responded.
    private func recordedDID(of handle: ATProtocolHandle) async throws(ATProtocolError) -> (String?, hasDNS: Bool) {
        // A name that is too long with its prefix can't have a record.
        guard handle.text.utf8.count + 9 <= ATProtocolHandle.maximumByteCount else { return (nil, true) }
        let texts: [String]
        do throws(NameLookupError) {
            texts = try await names.texts(of: "_atproto." + handle.text)
        } catch {
            if error.code == .cancelled { throw .cancelled }
            log.info("the DNS returned no response for the handle \(handle); asking its host: \(error)")
            return (nil, false)
        }
        let named = Set(texts.filter { $0.hasPrefix("did=") }.map { String($0.dropFirst(4)) })
        guard named.count <= 1 else { throw ATProtocolError(.handleAmbiguous) }
        if !named.isEmpty { log.debug("the DNS names a DID for the handle \(handle)") }
        return (named.first, true)
    }

    /// Returns what the host says, or `nil` for a handle without a host or a host without accounts.
    ///
    /// - Parameter hasDNS: whether the DNS responds. If so, a missing host isn't a network error.
    private func servedDID(of handle: ATProtocolHandle, hasDNS: Bool) async throws(ATProtocolError) -> String? {
        let url = try url("https://\(handle.text)/.well-known/atproto-did")
        let response: GuardedResponse
        do throws(ATProtocolError) {
            response = try await fetch(url, limit: 2048)
        } catch {
            guard hasDNS, case .network(let cause) = error.code, cause.code == .cannotResolveHost else { throw error }
            return nil
        }
        guard response.status < 500, response.status != 429 else {
            throw ATProtocolError(.refused(statusCode: response.status))
        }
        guard response.status == 200 else { return nil }
        let text = response.body.withExposedBytes { bytes in
            String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
        }
        let isSpace = { (character: Character) in character == " " || character == "\n" || character == "\r\n" }
        let trimmed = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return String(trimmed)
    }

    // MARK: - Documents

    public func document(of did: DID) async throws(ATProtocolError) -> DIDDocument {
        let address =
            switch did.method {
            case .plc: try url(directory.origin + "/" + did.text)
            case .web("localhost", let port):
                try url("http://localhost\(port.map { ":\($0)" } ?? "")/.well-known/did.json")
            case .web(let host, _): try url("https://\(host)/.well-known/did.json")
            }
        let response = try await fetch(address, limit: DIDDocument.maximumByteCount)
        switch response.status {
        case 200: return try DIDDocument(parsing: response.body, of: did)
        case 404, 410: throw ATProtocolError(.didNotFound)
        default: throw ATProtocolError(.refused(statusCode: response.status))
        }
    }

    private func url(_ text: String) throws(ATProtocolError) -> HTTPURL {
        guard let url = try? HTTPURL(text) else { throw ATProtocolError(.addressRefused) }
        try reach.check(url)
        return url
    }

    private func fetch(_ url: HTTPURL, limit: Int) async throws(ATProtocolError) -> GuardedResponse {
        try await http.fetch(url, limit: limit, log: log)
    }
}

extension HTTPTransport {
    /// Gets a public document.
    func fetch(_ url: HTTPURL, limit: Int, log: RedactedLogger) async throws(ATProtocolError) -> GuardedResponse {
        do throws(TransportError) {
            let response = try await send(
                GuardedRequest(.get, url), limits: TransferLimits(maximumBodyByteCount: limit, timeout: .seconds(30)))
            log.debug("GET \(url): status \(response.status)")
            return response
        } catch {
            log.info("GET \(url): \(error)")
            throw .network(error)
        }
    }
}

/// Which servers requests may go to: names of accounts come from strangers, and must not lead into a private network.
public enum NetworkReach: Sendable, Hashable {
    /// HTTPS to hosts with a public domain name, which must lead to a public address when the connection is made.
    case publicInternet
    /// The same, and loopback addresses, in the clear too: for tests and for servers under development.
    case development

    /// The addresses for connections. A name with a public address at its lookup may have another one a moment later.
    var addresses: AddressReach {
        switch self {
        case .publicInternet: .publicInternet
        case .development: .publicInternetAndLoopback
        }
    }

    /// Throws `.addressRefused` for a URL that no request may go to. A host with the form of a handle is a domain name,
    /// no IP address in any of its forms (inet_aton(3) reads `0x7f.1` and `2130706433`).
    func check(_ url: HTTPURL) throws(ATProtocolError) {
        if self == .development, url.isLoopback { return }
        guard url.scheme == .https, (try? ATProtocolHandle(url.host)) != nil else {
            throw ATProtocolError(.addressRefused)
        }
    }
}
