internal import HTTPTransport
internal import LoopbackHTTP
internal import OAuth
internal import Secrets

/// What a proof of a key adds to a request (RFC 9449), beside the bare transport over a loopback connection.
enum ProvedRequests {
    /// The most that it may add, in microseconds.
    private static let limit = 100.0

    /// Answers at once, so that what is left is our own work.
    private struct Nowhere: HTTPClient {
        func send(_ request: consuming HTTPRequest, limits: HTTPLimits) async throws(HTTPError) -> HTTPResponse {
            let empty: [UInt8] = []
            return HTTPResponse(status: 200, fields: [], body: Secret(copying: empty.span))
        }
    }

    static func run() async throws {
        let server = try LoopbackServer { _ in LoopbackResponse(status: 200) }
        let url = try HTTPURL(server.origin + "/resource")
        let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let http = CurlHTTPClient()
        let signer = DPoPSigner(key: try .generate(random: .system))
        let (proving, bearing) = (ResourceClient(http: http, dpop: signer), ResourceClient(http: http))
        let work = ResourceClient(http: Nowhere(), dpop: signer)
        let rows = try await Measurement.take(
            // What else the machine does takes longer than a short round, and so meets all three alike.
            rounds: 301, count: 10,
            [
                ("bare transport", { _ = try await http.send(HTTPRequest(.get, url)) }),
                ("with a bearer token", { _ = try await bearing.send(HTTPRequest(.get, url), token: token) }),
                ("with a token and a proof", { _ = try await proving.send(HTTPRequest(.get, url), token: token) }),
            ])
        Comparison(title: "A request over loopback, a connection each", rows: rows).show()
        let added = rows[2].microseconds - rows[0].microseconds
        print(
            "  a proof adds \(Int(added.rounded())) µs: \(added <= limit ? "within" : "OVER") the limit of \(limit) µs")
        Comparison(
            title: "Our own work for it",
            rows: try await Measurement.take(
                rounds: 15, count: 500,
                [
                    (
                        "token and proof made, and no transport",
                        { _ = try await work.send(HTTPRequest(.get, url), token: token) }
                    )
                ])
        ).show()
        withExtendedLifetime(server) {}
    }
}
