public import LatchkeyHTTP
internal import LatchkeySignIn
internal import LatchkeySystem

extension ATProtocolClient {
    /// Signs a request that an HTTP client of the caller's own will send: sets `authorization` and `proof`.
    ///
    /// Both are secrets, and leave through a sink alone, such as `CallersOwnHTTPClientFieldSink`, into the fields
    /// `Authorization` and `DPoP`. The proof is for this method and address, and good once and for a short while. The
    /// response is to be shown to `learn(from:ofResponseAt:)`; after a 401 with a new nonce the request is signed once
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

    /// Takes the nonce and the time that the account's server wants next from a response that another client got.
    ///
    /// Throws `.signIn` when the account has no session or its store can't be read. Fields that say nothing are no
    /// error.
    ///
    /// - Parameters:
    ///   - fields: the response's `DPoP-Nonce` and `Date`; others are ignored.
    ///   - url: the address of the request.
    ///   - account: whose request it was; by default the current account's.
    public func learn(
        from fields: [HeaderField], ofResponseAt url: HTTPURL, account: String? = nil
    ) async throws(ATProtocolError) {
        let (service, name) = try await service(of: account)
        try await mapError(
            ATProtocolError.signIn, awaiting: await service.learn(from: fields, ofResponseAt: url, account: name))
    }
}
