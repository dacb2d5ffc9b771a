internal import LatchkeyHTTP
internal import LatchkeyLoopback
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import TestServices

/// What a proof of a key adds to a request (RFC 9449), beside the bare transport.
enum ProvedRequests {
    /// Responds at once, so that what is left is our own work.
    private struct Nowhere: HTTPTransport {
        func send(_ request: consuming GuardedRequest, limits: TransferLimits) async throws(TransportError)
            -> GuardedResponse
        {
            let empty: [UInt8] = []
            return GuardedResponse(status: 200, fields: [], body: Secret(copying: empty.span))
        }
    }

    /// nginx in a process of its own, which keeps connections, as the servers of interfaces do.
    private struct KeepingServer {
        let url: HTTPURL
        private let directory: TestDirectory
        private let running: RunningProgram

        init() async throws {
            directory = try TestDirectory()
            let port = try LoopbackPort.free()
            url = try HTTPURL("http://127.0.0.1:\(port)/resource")
            let configuration = try directory.write(
                "nginx.conf",
                """
                worker_processes 1; daemon off; pid \(directory / "pid"); error_log stderr;
                events {}
                http {
                    access_log off; keepalive_requests 1000000; client_body_temp_path \(directory / "body");
                    proxy_temp_path \(directory / "proxy"); fastcgi_temp_path \(directory / "fastcgi");
                    uwsgi_temp_path \(directory / "uwsgi"); scgi_temp_path \(directory / "scgi");
                    server { listen 127.0.0.1:\(port); location / { return 200; } }
                }
                """)
            running = try Program("nginx").start(["-e", "stderr", "-c", configuration])
            let url = url
            try await running.wait(for: "nginx") {
                (try? await CurlTransport().send(GuardedRequest(.get, url)))?.status == 200
            }
        }
    }

    static func run() async throws {
        let signer = DPoPProofSigner(key: try .generate(random: .system))
        let keeping = try await KeepingServer()
        let rows = try await measure("A request over a kept connection", keeping.url, signer)
        let added = rows[2].microseconds - rows[0].microseconds
        print("  a proof adds \(Int(added.rounded())) µs")
        let server = try LoopbackServer { _ in LoopbackResponse(status: 200) }
        _ = try await measure(
            "A connection each, to a server in this process", HTTPURL(server.origin + "/resource"), signer)
        let work = ResourceClient(http: Nowhere(), dpop: signer)
        let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        Comparison(
            title: "Our own work for it",
            rows: try await Measurement.take(
                rounds: 15, count: 500,
                [
                    (
                        "token and proof made, and no transport",
                        { _ = try await work.send(GuardedRequest(.get, keeping.url), token: token) }
                    )
                ])
        ).show()
        withExtendedLifetime((keeping, server)) {}
    }

    private static func measure(
        _ title: String, _ url: HTTPURL, _ signer: DPoPProofSigner
    ) async throws -> [Measurement] {
        let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let http = CurlTransport()
        let (proving, bearing) = (ResourceClient(http: http, dpop: signer), ResourceClient(http: http))
        let rows = try await Measurement.take(
            // What else the machine does takes longer than a short round, and so meets all three alike.
            rounds: 301, count: 10,
            [
                ("bare transport", { _ = try await http.send(GuardedRequest(.get, url)) }),
                ("with a bearer token", { _ = try await bearing.send(GuardedRequest(.get, url), token: token) }),
                ("with a token and a proof", { _ = try await proving.send(GuardedRequest(.get, url), token: token) }),
            ])
        Comparison(title: title, rows: rows).show()
        return rows
    }
}
