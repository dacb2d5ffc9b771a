internal import LatchkeyJSON
public import LatchkeyHTTP
public import LatchkeySecrets
internal import LatchkeySystem

/// The part of a DID's document that a sign-in needs. It doesn't contain a secret.
public struct DIDDocument: Sendable, Hashable {
    /// The DID that the document is of.
    public let did: DID
    /// The first `at://` name that it claims; valid only when the handle leads to the DID as well. `nil` when
    /// there is none that is valid.
    public let claimedHandle: ATProtocolHandle?
    /// The account's own server: the origin behind `#atproto_pds`.
    public let personalServer: HTTPURL

    /// The limit of a document, in bytes.
    public static let maximumByteCount = 64 << 10
    static let maximumListCount = 64

    /// Reads a document.
    ///
    /// Throws `.invalidDocument` for invalid JSON, a document that is too large or nested too deeply, another `id` than
    /// `did`, invalid or overlong lists, and unless there is exactly one `#atproto_pds` of the type
    /// `AtprotoPersonalDataServer` with an origin as its endpoint.
    public init(parsing body: borrowing Secret<MessageBody>, of did: DID) throws(ATProtocolError) {
        let reader = try DocumentReader(body)
        guard try reader.text("id", .notThisDID).hasSameOctets(as: did.text) else { throw .document(.notThisDID) }
        self.did = did
        claimedHandle = try reader.handle()
        personalServer = try reader.personalServer(did)
    }
}

/// Reads members of a DID document.
private struct DocumentReader: ~Copyable {
    let document: JSONDocument

    init(_ body: borrowing Secret<MessageBody>) throws(ATProtocolError) {
        let limits = JSONLimits(byteCount: DIDDocument.maximumByteCount, depth: 8, valueCount: 4096, memberCount: 64)
        document = try mappingError({ (error: JSONError) in
            ATProtocolError.document(error.problem == .tooLarge ? .tooLarge : .notJSON)
        }) { () throws(JSONError) in
            let document = try JSONDocument(body.duplicate(), limits: limits)
            guard document.root.kind == .object else { throw JSONError(.wrongType) }
            return document
        }
    }

    borrowing func text(
        _ name: StaticString, _ problem: ATProtocolError.DocumentProblem, of value: JSONValue? = nil
    ) throws(ATProtocolError) -> String {
        guard let member = document.member(name, of: value ?? document.root),
            let text = try? document.publicText(member, limit: 2048)
        else { throw .document(problem) }
        return text
    }

    private borrowing func list(_ name: StaticString) throws(ATProtocolError) -> [JSONValue] {
        guard let member = document.member(name) else { return [] }
        guard member.kind == .array else { throw .document(.malformedList) }
        let elements = document.elements(of: member)
        guard elements.count <= DIDDocument.maximumListCount else { throw .document(.malformedList) }
        return elements
    }

    borrowing func handle() throws(ATProtocolError) -> ATProtocolHandle? {
        for element in try list("alsoKnownAs") {
            guard let name = try? document.publicText(element, limit: 2048) else { throw .document(.malformedList) }
            if name.hasPrefix("at://") { return try? ATProtocolHandle(String(name.dropFirst(5))) }
        }
        return nil
    }

    borrowing func personalServer(_ did: DID) throws(ATProtocolError) -> HTTPURL {
        var found: HTTPURL?
        for service in try list("service") {
            guard service.kind == .object else { throw .document(.malformedList) }
            let id = try text("id", .malformedList, of: service)
            guard id.hasSameOctets(as: "#atproto_pds") || id.hasSameOctets(as: did.text + "#atproto_pds") else {
                continue
            }
            guard try text("type", .withoutPersonalServer, of: service).hasSameOctets(as: "AtprotoPersonalDataServer")
            else {
                throw .document(.withoutPersonalServer)
            }
            guard found == nil else { throw .document(.repeatedPersonalServer) }
            found = try Self.origin(text("serviceEndpoint", .malformedPersonalServer, of: service))
        }
        guard let found else { throw .document(.withoutPersonalServer) }
        return found
    }

    private static func origin(_ text: String) throws(ATProtocolError) -> HTTPURL {
        guard let url = try? HTTPURL(text), url.path == "/", url.query == nil, !text.hasSuffix("?") else {
            throw .document(.malformedPersonalServer)
        }
        return url
    }
}
