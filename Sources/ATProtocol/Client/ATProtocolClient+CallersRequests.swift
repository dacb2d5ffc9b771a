public import HTTPTransport
internal import OAuth
public import Secrets
internal import SignIn

/// The sink that hands a field's value, the token inside, to an HTTP client of the caller's own.
public struct CallersOwnHTTPClientFieldSink: SecretSink {
    public static var reason: StaticString { "the caller's own HTTP client sends the request to the account's server" }

    /// The whole value of a field, such as `DPoP …`: a secret, as ordinary text from here on.
    public private(set) var unprotectedFieldValue = ""

    public init() {}

    public mutating func receive(_ bytes: Span<UInt8>) {
        for index in bytes.indices { unprotectedFieldValue.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    }
}

extension ATProtocolClient {
    /// Signs a request that an HTTP client of the caller's own will send: sets `authorization` and `proof`.
    ///
    /// Both are secrets, and leave through a sink alone, such as `CallersOwnHTTPClientFieldSink`, into the fields
    /// `Authorization` and `DPoP`. The proof is for this method and address, and good once and for a short while. The
    /// answer is to be shown to `learn(from:ofAnswerAt:)`; after a 401 with a new nonce the request is signed once more.
    ///
    /// Throws `.otherServer` for a request to another server than the account's own, `.keyLost`, `.signIn`.
    public func authenticateResourceRequest(
        _ request: consuming HTTPRequest, account: String? = nil
    ) async throws(ATProtocolError) -> HTTPRequest {
        let (service, name) = try await service(of: account)
        do throws(SignInError) {
            let session = try await service.freshSession(name)
            guard session.resource == request.url.origin else { throw SignInError(.otherResource) }
            guard let signer = try await service.signer(of: session) else { throw SignInError(.keyLost) }
            do throws(OAuthError) {
                try request.authorize(dpop: session.accessToken)
                _ = try signer.prove(&request, tokenHash: DPoPProof.hash(of: session.accessToken))
            } catch {
                throw .oauth(error)
            }
            return request
        } catch {
            throw .signIn(error)
        }
    }

    /// Takes the nonce and the time that the account's server wants next from an answer that another client got.
    ///
    /// - Parameters:
    ///   - fields: the answer's `DPoP-Nonce` and `Date`; others are ignored.
    ///   - url: the address of the request.
    public func learn(
        from fields: [HTTPField], ofAnswerAt url: HTTPURL, account: String? = nil
    ) async throws(ATProtocolError) {
        let (service, name) = try await service(of: account)
        do throws(SignInError) {
            let session = try await service.session(of: name)
            guard let signer = try await service.signer(of: session) else { throw SignInError(.keyLost) }
            let empty: [UInt8] = []
            signer.learn(from: HTTPResponse(status: 200, fields: fields, body: Secret(copying: empty.span)), of: url)
        } catch {
            throw .signIn(error)
        }
    }
}
