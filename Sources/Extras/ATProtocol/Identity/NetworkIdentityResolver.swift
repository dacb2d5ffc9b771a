public import LatchkeyHTTP
public import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets

/// Finds accounts as AT Protocol says: handles by DNS and HTTPS, DIDs in the directory of did:plc and on the hosts of
/// did:web.
///
/// Redirects are not followed, responses are bounded (64 KiB for a document, 2 KiB for a DID), and nothing is cached.
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

    /// Sends nothing yet.
    ///
    /// - Parameters:
    ///   - http: sends the requests, to the addresses that `reach` permits as far as it can tell them apart: a
    ///     `CurlTransport` does.
    ///   - names: looks up handles in the DNS; by default as the system does.
    ///   - directory: the origin of the did:plc directory.
    ///   - reach: which servers requests may go to.
    ///   - log: gets a line for each request, and what the DNS said.
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
    /// Throws `.handleAmbiguous` when the DNS names two DIDs, `.handleNotFound` when neither way leads to one.
    public func did(of handle: ATProtocolHandle) async throws(ATProtocolError) -> DID {
        if let did = try await recordedDID(of: handle) { return did }
        return try await servedDID(of: handle)
    }

    private func recordedDID(of handle: ATProtocolHandle) async throws(ATProtocolError) -> DID? {
        // A name that is too long with the label in front has no record.
        guard handle.text.utf8.count + 9 <= ATProtocolHandle.maximumByteCount else { return nil }
        let texts: [String]
        do throws(NameLookupError) {
            texts = try await names.texts(of: "_atproto." + handle.text)
        } catch {
            if error.code == .cancelled { throw .cancelled }
            log.info("the DNS gave no response for the handle \(handle); a request goes to its host: \(error)")
            return nil
        }
        let named = Set(texts.filter { $0.hasPrefix("did=") }.map { String($0.dropFirst(4)) })
        guard let text = named.first else { return nil }
        guard named.count == 1 else { throw ATProtocolError(.handleAmbiguous) }
        log.debug("the DNS names a DID for the handle \(handle)")
        return try DID(text)
    }

    private func servedDID(of handle: ATProtocolHandle) async throws(ATProtocolError) -> DID {
        let url = try url("https://\(handle.text)/.well-known/atproto-did")
        let response: GuardedResponse
        do throws(ATProtocolError) {
            response = try await fetch(url, limit: 2048)
        } catch {
            // Most hosts of the web are no one's handle: a host that isn't there is a handle that leads nowhere.
            guard case .network(let cause) = error.code, cause.code == .cannotResolveHost else { throw error }
            throw ATProtocolError(.handleNotFound)
        }
        guard response.status == 200 else { throw ATProtocolError(.handleNotFound) }
        let text = response.body.withExposedBytes { bytes in
            var text: [UInt8] = []
            for index in bytes.indices { text.append(bytes[index]) }
            return String(decoding: text, as: UTF8.self)
        }
        let isSpace = { (character: Character) in character == " " || character == "\n" || character == "\r\n" }
        let trimmed = text.drop(while: isSpace).reversed().drop(while: isSpace).reversed()
        return try DID(String(trimmed))
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
