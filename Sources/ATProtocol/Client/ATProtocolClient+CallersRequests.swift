public import LatchkeyHTTP
internal import LatchkeySignIn
internal import LatchkeySystem

extension ATProtocolClient {
    /// Signs a request that an HTTP client of the caller's own will send: sets `authorization` and `proof`.
    ///
    /// Both are secrets, and leave through a sink alone, such as `CallersOwnHTTPClientFieldSink`, into the fields
    /// `Authorization` and `DPoP`. The proof is for this method and address, and good once and for a short while. The
    /// answer is to be shown to `learn(from:ofAnswerAt:)`; after a 401 with a new nonce the request is signed once
    /// more.
    ///
    /// Throws `.otherServer` for a request to another server than the account's own, `.keyLost`, `.signIn`.
    public func authenticateResourceRequest(
        _ request: consuming GuardedRequest, account: String? = nil
    ) async throws(ATProtocolError) -> GuardedRequest {
        let (service, name) = try await service(of: account)
        do throws(SignInError) {
            return try await service.signed(request, with: try await service.freshSession(name))
        } catch {
            throw ATProtocolError.signIn(error)
        }
    }

    /// Takes the nonce and the time that the account's server wants next from an answer that another client got.
    ///
    /// - Parameters:
    ///   - fields: the answer's `DPoP-Nonce` and `Date`; others are ignored.
    ///   - url: the address of the request.
    public func learn(
        from fields: [HeaderField], ofAnswerAt url: HTTPURL, account: String? = nil
    ) async throws(ATProtocolError) {
        let (service, name) = try await service(of: account)
        try await mapError(
            ATProtocolError.signIn, awaiting: await service.learn(from: fields, ofAnswerAt: url, account: name))
    }
}
