public import AsyncHTTPClient
public import Latchkey
import NIOCore
import NIOHTTP1

/// Sends Latchkey's requests over AsyncHTTPClient.
public struct AsyncHTTPClientTransport: HTTPTransport {
    private let client: HTTPClient

    /// - Parameter client: one that follows no redirects (`redirectConfiguration: .disallow`): the token would go along.
    public init(_ client: HTTPClient) {
        self.client = client
    }

    public func send(
        _ request: consuming GuardedRequest, limits: TransferLimits
    ) async throws(TransportError) -> GuardedResponse {
        let origin = LoggableText(reviewed: "scheme, host and port", unredacted: request.url.origin)
        guard request.url.origin.hasPrefix("https://") || request.url.origin.hasPrefix("http://127.0.0.1:") else {
            throw TransportError(.notConfidential, origin: origin)
        }
        var theirs = HTTPClientRequest(url: request.url.text)
        theirs.method = HTTPMethod(rawValue: request.method.rawValue)
        for field in request.fields { theirs.headers.add(name: field.name, value: field.value) }
        if let token = ForeignMemory.text(of: request.authorization) {
            theirs.headers.add(name: "Authorization", value: token)
        }
        if let proof = ForeignMemory.text(of: request.proof) { theirs.headers.add(name: "DPoP", value: proof) }
        switch request.body {
        case .some(let body): theirs.body = .bytes(ByteBuffer(bytes: Array(ForeignMemory.data(of: body))))
        case .none: break
        }
        do {
            let timeout = TimeAmount.nanoseconds(Int64(limits.timeout / .nanoseconds(1)))
            let response = try await client.execute(theirs, timeout: timeout)
            let body = try await response.body.collect(upTo: limits.maximumBodyByteCount)
            return GuardedResponse(
                status: Int(response.status.code),
                fields: response.headers.compactMap { HeaderField($0.name, $0.value) },
                body: Secret(copying: Array(body.readableBytesView).span))
        } catch {
            throw TransportError(error is CancellationError ? .cancelled : .connectionLost, origin: origin)
        }
    }
}
