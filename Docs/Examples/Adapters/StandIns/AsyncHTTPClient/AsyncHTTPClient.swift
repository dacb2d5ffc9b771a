// What AsyncHTTPClientTransport uses of AsyncHTTPClient. In the place of a network stands a closure.

public import NIOCore
public import NIOHTTP1

public struct HTTPClientRequest: Sendable {
    public struct Body: Sendable {
        public let bytes: [UInt8]
        public static func bytes(_ buffer: ByteBuffer) -> Body { Body(bytes: buffer.readableBytesView) }
    }

    public var url: String
    public var method = HTTPMethod(rawValue: "GET")
    public var headers = HTTPHeaders()
    public var body: Body?
    public init(url: String) { self.url = url }
}

public struct HTTPClientResponse: Sendable {
    public struct TooManyBytes: Error {}

    public struct Body: Sendable {
        let bytes: [UInt8]
        public func collect(upTo maxBytes: Int) async throws -> ByteBuffer {
            guard bytes.count <= maxBytes else { throw TooManyBytes() }
            return ByteBuffer(bytes: bytes)
        }
    }

    public var status: HTTPResponseStatus
    public var headers: HTTPHeaders
    public var body: Body
    public init(status: HTTPResponseStatus, headers: HTTPHeaders, bytes: [UInt8]) {
        (self.status, self.headers, body) = (status, headers, Body(bytes: bytes))
    }
}

public final class HTTPClient: Sendable {
    private let network: @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse

    public init(network: @escaping @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse) {
        self.network = network
    }

    public func execute(_ request: HTTPClientRequest, timeout: TimeAmount) async throws -> HTTPClientResponse {
        try await network(request)
    }
}
