internal import LatchkeyCrypto
internal import LatchkeyJSON
internal import LatchkeyLoopback
internal import LatchkeySecrets
internal import Synchronization

/// The problem of a DPoP proof (RFC 9449 section 4.3).
public enum DPoPProofProblem: Sendable, Hashable, CaseIterable {
    /// None, or more than one field.
    case count
    /// Not a JSON Web Token, or one without a required claim or with an extension that must be understood (`crit`).
    case malformed
    /// Its `typ` is not `dpop+jwt`.
    case type
    /// Its `alg` is not ES256.
    case algorithm
    /// Its `jwk` is no P-256 key.
    case key
    /// The key's private half is in it.
    case privateKey
    /// Its signature isn't its key's.
    case signature
    /// Shorter than 96 bits, or used before.
    case identifier
    /// Its `htm` is another method than the request's.
    case method
    /// Its `htu` is another address than the request's.
    case address
    /// Its `iat` is more than a minute from now, or its `exp` is over.
    case time
    /// Its `ath` isn't the hash of the token in the request.
    case tokenHash
    /// Another nonce than the server's.
    case nonce
    /// Another key than the one that code or token are bound to.
    case otherKey
}

/// The server that gets a proof: an account's own server has another origin and separate nonces.
enum Door: Sendable { case authorization, resource }

/// A proof that is refused, or missing.
struct ProofRefusal: Error {
    let problem: DPoPProofProblem

    var name: String { problem == .nonce ? "use_dpop_nonce" : "invalid_dpop_proof" }
}

extension AuthorizationService {
    /// Checks the proof of a request, strictly, and returns the thumbprint of its key.
    ///
    /// - Parameter token: the access token in the request, if any.
    func checkProof(of input: Input, token: KeptSecret?, at door: Door = .authorization) throws(ProofRefusal) -> String
    {
        do throws(ProofRefusal) {
            let thumbprint = try checkedProof(of: input, token: token, at: door)
            state.withLock { $0.record.proofs += 1 }
            return thumbprint
        } catch {
            state.withLock { $0.record.proofProblems[error.problem, default: 0] += 1 }
            throw error
        }
    }

    private func checkedProof(of input: Input, token: KeptSecret?, at door: Door) throws(ProofRefusal) -> String {
        guard input.proofs.count == 1 else { throw ProofRefusal(problem: .count) }
        let proof = try ProofText(input.proofs[0])
        let origin = state.withLock { door == .resource ? $0.resourceOrigin : $0.origin }
        guard proof.method == input.method else { throw ProofRefusal(problem: .method) }
        guard proof.address == origin + input.path else { throw ProofRefusal(problem: .address) }
        let now = clock()
        guard (now - 60...now + 60).contains(proof.issued), proof.expiry.map({ $0 > now }) ?? true else {
            throw ProofRefusal(problem: .time)
        }
        let hash = token.map { token in
            token.value.withExposedBytes { bytes in
                let digest = SHA256.digest(bytes)
                return Base64URL.encode(digest.span)
            }
        }
        guard proof.tokenHash == hash else { throw ProofRefusal(problem: .tokenHash) }
        let isFresh = state.withLock { $0.proofIdentifiers.insert(proof.identifier).inserted }
        guard isFresh, proof.identifier.utf8.count >= 16 else { throw ProofRefusal(problem: .identifier) }
        guard acceptsNonce(proof.nonce, at: door) else { throw ProofRefusal(problem: .nonce) }
        return proof.thumbprint
    }

    // MARK: - Nonces

    private func acceptsNonce(_ nonce: String?, at door: Door) -> Bool {
        guard configuration.dpopNonces else { return true }
        if has(.unendingDPoPNonces) { return false }
        return state.withLock { state in nonce.map { state.dpopNonces[door, default: []].contains($0) } ?? false }
    }

    /// Gives out a new nonce with a response. The 64 newest are good, or with churn the last alone.
    func addNonce(to response: inout LoopbackResponse, at door: Door = .authorization) {
        guard configuration.dpopNonces else { return }
        let text = KeptSecret.random("dpop_nonce").publicText() ?? ""
        state.withLock { state in
            let count = state.faults.contains(.dpopNonceChurn) ? 1 : 64
            state.dpopNonces[door] = Array((state.dpopNonces[door, default: []] + [text]).suffix(count))
        }
        response.fields.append(LoopbackField("DPoP-Nonce", text))
    }

    /// RFC 9449 section 9.
    static func proofChallenge(_ refusal: ProofRefusal) -> LoopbackResponse {
        LoopbackResponse(
            status: 401, contentType: "application/json", publicText: "{\"message\":\"Bad proof\"}",
            fields: [LoopbackField("WWW-Authenticate", "DPoP error=\"\(refusal.name)\", algs=\"ES256\"")])
    }
}

/// A proof taken apart, its signature checked.
private struct ProofText {
    let method: String
    let address: String
    let identifier: String
    let issued: Int
    /// 0 if `exp` isn't a number.
    let expiry: Int?
    let tokenHash: String?
    let nonce: String?
    let thumbprint: String

    init(_ text: String) throws(ProofRefusal) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let signature = Base64URL.decode(parts[2]), let header = Self.document(parts[0]),
            let payload = Self.document(parts[1])
        else { throw ProofRefusal(problem: .malformed) }
        guard header.text(header.member("typ")) == "dpop+jwt" else { throw ProofRefusal(problem: .type) }
        guard header.text(header.member("alg")) == "ES256" else { throw ProofRefusal(problem: .algorithm) }
        // No extension is understood (RFC 7515 section 4.1.11).
        guard header.member("crit") == nil else { throw ProofRefusal(problem: .malformed) }
        guard let key = header.member("jwk") else { throw ProofRefusal(problem: .key) }
        guard header.member("d", of: key) == nil else { throw ProofRefusal(problem: .privateKey) }
        guard let kind = header.member("kty", of: key), header.isText(kind, "EC"),
            let curve = header.member("crv", of: key), header.isText(curve, "P-256"),
            let x = header.member("x", of: key).flatMap({ try? header.publicText($0, limit: 64) }),
            let y = header.member("y", of: key).flatMap({ try? header.publicText($0, limit: 64) }),
            let abscissa = Base64URL.decode(x), let ordinate = Base64URL.decode(y), abscissa.count == 32,
            ordinate.count == 32
        else { throw ProofRefusal(problem: .key) }
        let signed = Array((parts[0] + "." + parts[1]).utf8)
        guard (try? P256.isValid(signature, of: signed.span, publicKey: abscissa + ordinate)) == true else {
            throw ProofRefusal(problem: .signature)
        }
        let members = Array(#"{"crv":"P-256","kty":"EC","x":"\#(x)","y":"\#(y)"}"#.utf8)
        let digest = SHA256.digest(members.span)
        thumbprint = Base64URL.encode(digest.span)
        guard let method = payload.text(payload.member("htm")), let address = payload.text(payload.member("htu")),
            let identifier = payload.text(payload.member("jti")), let time = payload.member("iat"),
            let issued = try? payload.integer(time)
        else { throw ProofRefusal(problem: .malformed) }
        (self.method, self.address, self.identifier, self.issued) = (method, address, identifier, Int(issued))
        expiry = payload.member("exp").map { (try? payload.integer($0)).map { Int($0) } ?? 0 }
        tokenHash = payload.text(payload.member("ath"))
        nonce = payload.text(payload.member("nonce"))
    }

    private static func document(_ part: String) -> JSONDocument? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        return try? JSONDocument(Secret(copying: bytes.span))
    }
}
