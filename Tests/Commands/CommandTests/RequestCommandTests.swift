import Foundation
import LatchkeyLoopback
import LatchkeySecrets
import LatchkeyTestServer
import Synchronization
import Testing
import TestServices

/// `latchkey request` as curl and `gh api` are used: methods, fields, bodies, paths and statuses.
@Suite struct RequestCommandTests {
    private let scene: RefreshScene
    private let api: API

    init() async throws {
        scene = try await RefreshScene()
        api = try API()
        try await scene.run(
            "provider", "add", "work", "--issuer", scene.server.issuer, "--client-id", "latchkey", "--scope", "read",
            "--origin", api.origin, "--force"
        ).successful("provider add")
    }

    /// A service that shows what it is asked: `/status/404` has that status.
    private final class API: Sendable {
        private let server: LoopbackServer
        private let seen: Seen

        private final class Seen: Sendable {
            let requests = Mutex<[String]>([])
        }

        init() throws {
            let seen = Seen()
            self.seen = seen
            let methods = Set(LoopbackMethod.allCases)
            server = try LoopbackServer(LoopbackServer.Configuration(methods: methods)) { request in
                let fields = ["Accept", "X-Own", "Content-Type"].compactMap { name in
                    request.field(name).map { "\(name): \($0)" }
                }
                let body = request.body.withExposedBytes { bytes in
                    String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self)
                }
                let isSigned = request.authorization == nil ? "without a token" : "with a token"
                let text = (["\(request.method.rawValue) \(request.path) \(isSigned)"] + fields + [body])
                    .joined(separator: "\n")
                seen.requests.withLock { $0.append(text) }
                let status = request.path.hasPrefix("/status/") ? Int(request.path.dropFirst(8)) ?? 200 : 200
                return LoopbackResponse(
                    status: status, contentType: "text/plain",
                    publicText: request.path == "/title" ? "\u{1B}]0;owned\u{7}" : "body of \(status)\n",
                    fields: [LoopbackField("Link", "</page/2>; rel=\"next\"")])
            }
        }

        var origin: String { server.origin }
        var requests: [String] { seen.requests.withLock { $0 } }
    }

    private func request(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["request", "work"] + arguments, environment: scene.environment, input: Array(input.utf8))
    }

    @Test func `a path alone is on the provider's API, and a request without a method is a GET`() async throws {
        let run = try await request("/things?page=1").successful("request")
        #expect(run.outputText == "body of 200\n" && run.errorOutput.isEmpty)
        #expect(api.requests == ["GET /things with a token\n"])
    }

    /// What a server sends would be obeyed by the terminal.
    @Test(arguments: [false, true])
    func `a response's control characters are escaped on a terminal unless --raw is given`(
        isRaw: Bool
    ) async throws {
        let terminal = try PseudoTerminal()
        let run = try await BuiltProducts.latchkey().start(
            ["request", "work", "/title"] + (isRaw ? ["--raw"] : []), environment: scene.environment,
            terminal: terminal,
            streamsOnTerminal: true
        ).finish()
        #expect(run.status == 0)
        try await terminal.waitUntilShown(isRaw ? "\u{1B}]0;owned\u{7}" : "\\u{1b}]0;owned\\u{7}")
        #expect(terminal.shown.contains("\u{1B}") == isRaw)
        #expect(try await request("/title").outputText == "\u{1B}]0;owned\u{7}")
    }

    @Test func `data implies POST, and a method overrides it`() async throws {
        try await request("/things", "--json-body", #"{"name": "x"}"#).successful("request")
        try await request("/things", "--data", "@-", "--content-type", "text/plain", input: "plain")
            .successful("request")
        try await request("PUT", "/things", "--json-body", "[1]").successful("request")
        try await request("/things", "--method", "PATCH", "--data", "@-", input: "{}").successful("request")
        try await request("/things", "--method", "DELETE").successful("request")
        #expect(
            api.requests == [
                "POST /things with a token\nContent-Type: application/json\n{\"name\": \"x\"}",
                "POST /things with a token\nContent-Type: text/plain\nplain",
                "PUT /things with a token\nContent-Type: application/json\n[1]",
                "PATCH /things with a token\nContent-Type: application/json\n{}",
                "DELETE /things with a token\n",
            ])
    }

    @Test func `header fields are sent, including a media type`() async throws {
        try await request(
            "/things", "--header", "Accept: text/html", "--header", "X-Own:1", "--header", "content-type: text/csv",
            "--data", "@-", input: "a,b"
        ).successful("request")
        #expect(
            api.requests == ["POST /things with a token\nAccept: text/html\nX-Own: 1\nContent-Type: text/csv\na,b"])
    }

    @Test func `status and fields are shown before the body`() async throws {
        let run = try await request("/things", "--include").successful("request")
        let parts = run.outputText.split(separator: "\n\n", maxSplits: 1)
        #expect(parts.first?.hasPrefix("HTTP 200\n") == true && parts.last == "body of 200\n", "\(run.outputText)")
        #expect(parts.first?.contains("\nLink: </page/2>; rel=\"next\"") == true, "\(run.outputText)")
    }

    @Test(arguments: [
        (401, 77), (403, 77), (404, 22), (409, 22), (410, 22), (422, 22), (302, 22), (408, 75), (425, 75), (429, 75),
        (503, 75), (500, 69), (501, 69),
    ])
    func `each status is reported, after the body`(status: Int, exit: Int32) async throws {
        let run = try await request("/status/\(status)")
        #expect(run.status == exit)
        #expect(run.outputText == "body of \(status)\n")
        #expect(
            run.errorText.hasPrefix(
                "latchkey: error: \(api.origin)/status/\(status) responded with status \(status) [request.status]\n"),
            "\(run.errorText)")
    }

    @Test func `an invalid request is refused before anything is sent`() async throws {
        let large = scene.directory / "large"
        try scene.directory.write("large", "")
        #expect(unsafe truncate(large, 64 << 20 + 1) == 0)
        let refused: [([String], Int32, String)] = [
            (["/a", "--header", "Authorization: Bearer mine"], 64, "Latchkey sets that header field itself"),
            (["/a", "--header", "nonsense"], 64, "--header takes a name, a colon and a value in ASCII"),
            (["/a", "--header", "X: a\r\nY: b"], 64, "--header takes a name, a colon and a value in ASCII"),
            (["/a", "--json-body", "{name: x}"], 64, "--json-body takes JSON of at most 256 KiB"),
            (["/a", "--data", "@" + large], 65, "the file after --data @ has more than 67108864 bytes"),
            (["/a", "--json-body", "{}", "--data", "@-"], 64, "--data and --json-body can't be combined"),
            (["GET", "/a", "--method", "PUT"], 64, "METHOD and --method can't be combined"),
            (["/a", "--method", "FETCH"], 64, "METHOD must be GET, HEAD, POST, PUT, PATCH or DELETE"),
            (["http://127.0.0.1:1/a"], 77, "a server that isn't one of the provider's API origins"),
            (["//127.0.0.1:1/a"], 0, ""),
        ]
        for (arguments, status, text) in refused {
            let run = try await BuiltProducts.latchkey().run(
                ["request", "work"] + arguments, environment: scene.environment)
            #expect(
                run.status == status && (text.isEmpty || run.errorText.contains(text)), "\(arguments): \(run.errorText)"
            )
        }
        // Two slashes are a path too: nothing that begins with one leads to another host.
        #expect(api.requests == ["GET //127.0.0.1:1/a with a token\n"])
    }
}
