internal import Foundation
internal import Testing
internal import TestServices

/// Tokens for machines, without a person: by the client's secret, or by what a CI job or a cluster hands to a workload.
@Suite struct MachineTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        self.environment = environment
        try await run("vault", "init", "--key-file", directory / "key").successful("vault init")
    }

    @discardableResult
    private func run(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
    }

    private static let byFile = ["jwt-bearer", "token-exchange"]

    @Test(arguments: ["client_secret_basic", "client_secret_post"])
    func `a client's secret gets one token for all that ask, and another at its end`(method: String) async throws {
        let server = try await StrictServer(
            #"{"methods": ["\#(method)"], "secret": "a secret", "openid": false, "resource": "/api"}"#)
        try await run(
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--client-secret-stdin", "--grant",
            "client-credentials", "--scope", "read", input: "a secret"
        ).successful("provider add")
        let refused = try await run("token", "ci")
        // Nobody can sign in for it.
        #expect(!refused.errorText.contains("sign-in"), "\(refused.errorText)")
        #expect(
            refused.status == 77 && server.events == ["missing: resource in a request to /token client_credentials"])
        let other = try await StrictServer(
            #"{"methods": ["\#(method)"], "secret": "a secret", "openid": false}"#)
        try await run(
            "provider", "add", "ci", "--issuer", other.issuer, "--client-id", "me", "--client-secret-stdin", "--grant",
            "client-credentials", "--scope", "read", "--force", input: "a secret"
        ).successful("provider add")
        let running = try (0..<24).map { number in
            try BuiltProducts.latchkey().start(
                number % 2 == 0 ? ["token", "ci"] : ["helper", "headers", "ci"], environment: environment)
        }
        var tokens: Set<String> = []
        for program in running {
            let run = try await program.finish().successful("token")
            tokens.insert(run.outputText.split(whereSeparator: { " \"{}:".contains($0) }).last.map(String.init) ?? "")
        }
        #expect(tokens.count == 1 && other.events == ["issued tokens"], "\(tokens) \(other.events)")
        let accounts = try await run("accounts").outputText
        #expect(accounts.contains("refreshes itself"), "\(accounts)")
        #expect(try await run("accounts", "--json").outputText.contains("\"refreshable\": true"))
        #expect(try await run("accounts", "--check").status == 0)
        try await other.change(#"{"lifetime": 1}"#)
        try await run("sign-out", "ci").successful("sign-out")
        let first = try await run("token", "ci").successful("token").outputText
        // Its one second has passed then, however fast the machine is.
        try await Task.sleep(for: .milliseconds(1100))
        #expect(try await run("token", "ci").successful("token").outputText != first)
        let signIn = try await run("sign-in", "ci")
        #expect(signIn.status == 64 && signIn.errorText.contains("run `latchkey token ci`"), "\(signIn.errorText)")
    }

    /// A former token went on to be given out, and a scope was requested that nobody had set.
    @Test func `a machine's token is of the settings that it has, and no scope is one`() async throws {
        let server = try await StrictServer(
            #"{"methods": ["client_secret_basic"], "secret": "a secret", "machine": ["scope"]}"#)
        func add(_ more: String...) async throws {
            try await BuiltProducts.latchkey().run(
                [
                    "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--client-secret-stdin",
                    "--grant", "client-credentials", "--force",
                ] + more, environment: environment, input: Array("a secret".utf8)
            ).successful("provider add")
        }
        try await add()
        #expect(try await run("token", "ci").status == 77)
        #expect(server.events == ["missing: scope in a request to /token client_credentials"])
        try await add("--scope", "read")
        let first = try await run("token", "ci").successful("token").outputText
        #expect(try await run("token", "ci").successful("token").outputText == first)
        try await add("--scope", "write")
        #expect(try await run("token", "ci").successful("token").outputText != first)
    }

    /// It was accepted and never sent.
    @Test func `a machine's request for a token has the parameters that were set`() async throws {
        let server = try await StrictServer(
            #"{"methods": ["client_secret_basic"], "secret": "a secret", "machine": ["audience"]}"#)
        let options = [
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--client-secret-stdin", "--grant",
            "client-credentials", "--force",
        ]
        func add(_ more: String...) async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(
                options + more, environment: environment, input: Array("a secret".utf8))
        }
        try await add().successful("provider add")
        #expect(try await run("token", "ci").status == 77)
        #expect(server.events == ["missing: audience in a request to /token client_credentials"])
        let reserved = try await add("--parameter", "grant_type=password")
        #expect(reserved.status == 64, "\(reserved.errorText)")
        try await add("--parameter", "audience=https://api.example.org").successful("provider add")
        try await run("token", "ci").successful("token")
    }

    /// The response may hold the only token that is valid. Everything else is given up in time.
    @Test func `a token that was requested is waited for beyond a short time limit`() async throws {
        let server = try await StrictServer(
            #"{"methods": ["client_secret_basic"], "secret": "a secret", "delay": 12, "userinfo": null}"#)
        let options = [
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--client-secret-stdin", "--grant",
            "client-credentials", "--scope", "read",
        ]
        try await BuiltProducts.latchkey().run(options, environment: environment, input: Array("a secret".utf8))
            .successful("provider add")
        try await run("token", "ci", "--timeout", "10").successful("token")
        #expect(server.events == ["issued tokens"])
        // None of these hints is to sign in.
        let forbidden = try await run("request", "ci", server.issuer + "/userinfo")
        #expect(forbidden.status == 77 && forbidden.errorText.contains("hint: the server doesn't let this machine's"))
        let withoutID = try await run("token", "ci", "--id")
        #expect(withoutID.status != 0 && withoutID.errorText.contains("ci gives this machine no ID token"))
        #expect(!(forbidden.errorText + withoutID.errorText).contains("latchkey sign-in"), "\(withoutID.errorText)")
        let silent = try ScriptedServer([.readHeader, .waitForEnd])
        let late = try await run(
            "provider", "add", "late", "--issuer", silent.origin, "--client-id", "me", "--timeout", "3")
        #expect(late.status == 75 && late.errorText.contains("[http.timed-out]"), "\(late.errorText)")
    }

    // MARK: - A client's key

    private func add(
        _ server: StrictServer, _ options: String..., input: [UInt8] = []
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            [
                "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--grant",
                "client-credentials", "--scope", "read", "--force",
            ] + options, environment: environment, input: input)
    }

    /// Keys of another program's making, as `kind` says.
    private func key(_ kind: String) async throws -> [UInt8] {
        let script = """
            import base64, json, sys
            from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
            from cryptography.hazmat.primitives.serialization import *
            kind = sys.argv[1]
            make = {"rsa": lambda: rsa.generate_private_key(65537, 2048), "ed25519": ed25519.Ed25519PrivateKey.generate}
            curve = ec.SECP384R1() if "P-384" in kind else ec.SECP256K1() if "secp256k1" in kind else ec.SECP256R1()
            key = make.get(kind.split()[0], lambda: ec.generate_private_key(curve))()
            form = PrivateFormat.TraditionalOpenSSL if "SEC 1" in kind else PrivateFormat.PKCS8
            guard = BestAvailableEncryption(b"x") if "encrypted" in kind else NoEncryption()
            if "public" in kind and "JWK" not in kind:
                print(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())
            elif "JWK" in kind:
                numbers = key.private_numbers()
                size = (curve.key_size + 7) // 8
                text = lambda n: base64.urlsafe_b64encode(n.to_bytes(size, "big")).decode().rstrip("=")
                public = numbers.public_numbers
                jwk = {"crv": {256: "P-256", 384: "P-384"}[curve.key_size], "kid": "x", "d": text(numbers.private_value)}
                jwk |= {"x": text(public.x), "y": text(public.x if "another" in kind else public.y), "kty": "EC"}
                if "public" in kind: del jwk["d"]
                print(json.dumps(jwk, indent=1))
            else:
                print(key.private_bytes(Encoding.PEM, form, guard).decode())
            """
        return try await Program("/usr/bin/python3").run(["-c", script, kind]).successful("python3").output
    }

    @Test(arguments: ["--new-client-key", "PKCS 8", "SEC 1", "JWK"])
    func `a client's key signs for tokens, and the server has its public half`(kind: String) async throws {
        let server = try await StrictServer(#"{"methods": ["private_key_jwt"], "openid": false}"#)
        let isNew = kind.hasPrefix("--")
        let added = try await add(
            server, isNew ? kind : "--client-key-stdin", "--client-auth", "private-key-jwt",
            input: isNew ? [] : key(kind)
        ).successful("provider add")
        #expect(added.outputText.contains(#""crv": "P-256""#))
        #expect(!added.outputText.contains(#""d""#) && !added.errorText.contains("BEGIN"))
        let early = try await run("token", "ci")
        #expect(early.status == 77 && early.output.isEmpty, "\(early.errorText)")
        try await server.change(#"{"jwk": \#(added.outputText.replacing("\n", with: ""))}"#)
        // With a clock that is wrong, on either side, in place of a server that refuses each assertion.
        for clock in [0, 3600, -3600] {
            try await run("sign-out", "ci")
            try await server.change(#"{"clock": \#(clock)}"#)
            #expect(try await run("token", "ci").successful("token").output.count > 20)
        }
        #expect(server.events.count { $0 == "issued tokens" } == 3)
        #expect(server.events.count { $0 == "refused an assertion: its time" } >= 2)
        #expect(server.events.allSatisfy { !$0.contains("missing") && !$0.contains("claims") }, "\(server.events)")
        // The key is no secret to send, whatever the provider's file says.
        try await add(server, "--client-auth", "basic").successful("provider add")
        try await run("sign-out", "ci")
        let count = server.events.count
        let refused = try await run("token", "ci")
        #expect(refused.status == 78 && server.events.count == count, "\(refused.errorText) \(server.events)")
    }

    @Test(arguments: [
        "P-384", "secp256k1", "rsa", "ed25519", "encrypted", "public", "JWK P-384", "JWK public", "JWK another point",
        "",
    ])
    func `a key that can't sign for the client is refused, and nothing is stored`(kind: String) async throws {
        let server = try await StrictServer(#"{"methods": ["private_key_jwt"], "openid": false}"#)
        let added = try await add(server, "--client-key-stdin", input: kind.isEmpty ? [] : key(kind))
        #expect(added.status == 65 && added.errorText.contains("P-256"), "\(added.errorText)")
        #expect(try await run("provider", "list").output.isEmpty)
        #expect(try await run("list", "--all").output.isEmpty)
    }

    @Test func `a missing key is reported before a request`() async throws {
        let server = try await StrictServer(#"{"methods": ["private_key_jwt"], "openid": false}"#)
        try await add(server, "--client-auth", "private-key-jwt").successful("provider add")
        let run = try await run("token", "ci")
        #expect(run.status == 78 && run.errorText.contains("--client-key-stdin"), "\(run.errorText)")
        #expect(server.events.isEmpty)
    }

    /// RFC 7523 section 3 leaves open how the server is named.
    @Test func `a server that wants its token endpoint as the audience gets it`() async throws {
        let server = try await StrictServer(
            #"{"methods": ["private_key_jwt"], "openid": false, "audience": "/token"}"#)
        let added = try await add(server, "--new-client-key").successful("provider add")
        try await server.change(#"{"jwk": \#(added.outputText.replacing("\n", with: ""))}"#)
        try await run("token", "ci").successful("token")
        #expect(server.events == ["changed", "refused an assertion: its claims", "issued tokens"])
    }

    @Test func `a server with its own library accepts a client's key`() async throws {
        let python = TestData.package.appendingPathComponent(".build/judges/mcp/bin/python").path
        let server = try Program(python).start([TestData.folder().appendingPathComponent("idpyoidc_server.py").path])
        try await server.wait(for: "its address") { server.outputSoFar.contains("\n") }
        let issuer = String(server.outputSoFar.prefix { $0 != "\n" })
        let arguments = [
            "provider", "add", "ci", "--issuer", issuer, "--client-id", "me", "--grant", "client-credentials",
            "--scope", "read", "--new-client-key",
        ]
        let added = try await BuiltProducts.latchkey().run(arguments, environment: environment)
            .successful("provider add")
        // The server doesn't know the key yet.
        let early = try await run("token", "ci")
        #expect(early.status == 77 && early.output.isEmpty, "\(early.errorText)")
        server.type(added.outputText.replacing("\n", with: "") + "\n")
        try await server.wait(for: "the key") { server.outputSoFar.contains("changed") }
        #expect(try await run("token", "ci").successful("token").output.count > 20)
        #expect(server.outputSoFar.components(separatedBy: "issued tokens").count == 2)
        server.kill()
    }

    // MARK: - What a workload is handed

    @Test(arguments: byFile)
    func `a cluster's assertion is read anew each time, through the cluster's link`(
        grant: String
    ) async throws {
        let server = try await StrictServer(#"{"openid": false, "handed": "a.b.c"}"#)
        try directory.makeFolder("data")
        try directory.write("data/token", "a.b.c\n")
        try FileManager.default.createSymbolicLink(
            atPath: directory / "token", withDestinationPath: directory / "data/token")
        try await run(
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--grant", grant,
            "--assertion-file", directory / "token", "--scope", "read"
        ).successful("provider add")
        let first = try await run("token", "ci").successful("token").outputText
        #expect(try await run("token", "ci").outputText == first && server.events == ["issued tokens"])
        try await run("sign-out", "ci").successful("sign-out")
        try await server.change(#"{"handed": "d.e.f"}"#)
        let stale = try await run("token", "ci")
        #expect(stale.status == 77 && stale.output.isEmpty, "\(stale.errorText)")
        try directory.write("data/token", "d.e.f")
        #expect(try await run("token", "ci").successful("token").outputText != first)
        // The store has what the server gave, and not what the cluster handed out.
        let listed = try await run("list", "--all").outputText
        #expect(listed.contains("session") && !listed.contains("secret"), "\(listed)")
        let found = try await Program("grep").run(["-rlF", "a.b.c", directory.path])
        #expect(found.status == 1 && found.output.isEmpty, "\(found.outputText)")
    }

    @Test(arguments: ["missing", "fifo", "folder", "huge", "empty", "two words"])
    func `a file that isn't an assertion is reported, and nothing is sent`(kind: String) async throws {
        let server = try await StrictServer(#"{"openid": false}"#)
        let path = directory / "token"
        switch kind {
        case "fifo": try await Program("mkfifo").run([path]).successful("mkfifo")
        case "folder": try directory.makeFolder("token")
        case "huge": try directory.write("token", String(repeating: "a", count: 10 << 20))
        case "empty": try directory.write("token", "\n")
        case "two words": try directory.write("token", "a b")
        default: break
        }
        try await run(
            "provider", "add", "ci", "--issuer", server.issuer, "--client-id", "me", "--grant", "jwt-bearer",
            "--assertion-file", path
        ).successful("provider add")
        let run = try await run("token", "ci")
        #expect(run.status == 78 && run.errorText.contains("hint: check the path"), "\(run.errorText)")
        #expect(server.events.isEmpty)
    }

    @Test(arguments: [
        ["--grant", "jwt-bearer"], ["--grant", "client-credentials", "--assertion-file", "/x"],
        ["--new-client-key", "--client-key-stdin"], ["--new-client-key", "--client-secret-stdin"],
        ["--new-client-key", "--register"], ["--new-client-key", "--client-auth", "post"],
        ["--client-secret-stdin", "--client-auth", "private-key-jwt"],
        ["--assertion-file", "/x"], ["--grant", "password"], ["--grant", "client-credentials", "--dpop"],
    ])
    func `contradictory options are refused`(options: [String]) async throws {
        let run = try await BuiltProducts.latchkey().run(
            ["provider", "add", "ci", "--issuer", "http://127.0.0.1:9", "--client-id", "me"] + options,
            environment: environment)
        #expect(run.status == 64 && run.errorText.contains("hint:"), "\(run.errorText)")
    }
}
