import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// A role's temporary credentials for the ID token of a session.
@Suite struct AWSRoleTests {
    private let scene: HelperScene
    private let server: LoopbackAuthorizationServer
    private let browser: String

    init() async throws {
        scene = try await HelperScene()
        server = try LoopbackAuthorizationServer()
        browser = try scene.directory.write(
            "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700
        )
        try await scene.latchkey("provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey")
        try await signIn()
    }

    private func signIn(_ options: String...) async throws {
        try await BuiltProducts.latchkey().run(
            ["sign-in", "work"] + options, environment: scene.environment.merging(["BROWSER": browser]) { $1 }
        ).successful("sign-in")
    }

    private static let role = "arn:aws:iam::123456789012:role/teams/deploy"

    private func arguments(_ endpoint: String, role: String = Self.role) -> [String] {
        ["helper", "aws", "work", "--role-arn", role, "--sts-endpoint", endpoint]
    }

    private func ask(_ endpoint: String, role: String = Self.role) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments(endpoint, role: role), environment: scene.environment)
    }

    private func service() async throws -> SecurityTokenServer {
        try await SecurityTokenServer(issuer: server.issuer)
    }

    // MARK: - Of other people's making

    @Test func `botocore works in the role that moto lets the session assume`() async throws {
        let judges = TestData.package.appendingPathComponent(".build/judges/python/bin").path
        let moto = try Program(judges + "/python").start([HelperScene.fixture("moto_server.py")])
        try await moto.wait(for: "its address") { moto.outputSoFar.contains("\n") }
        let address = String(moto.outputSoFar.prefix { $0 != "\n" })
        let run = try await scene.shell(
            """
            mkdir -p home/.aws
            printf '[profile work]\\nregion = eu-central-1\\ncredential_process = %s/latchkey helper aws work --role-arn %s --sts-endpoint %s\\n' \\
                "$PWD/bin" "$2" "$3" > home/.aws/config
            "$1/python" -c '
            import sys, botocore.session
            session = botocore.session.Session(profile="work")
            keys = session.get_credentials().get_frozen_credentials()
            print(keys.access_key[:4], len(keys.secret_key), len(keys.token) > 100)
            print(session.create_client("sts", endpoint_url=sys.argv[1]).get_caller_identity()["Arn"])
            ' "$3"
            """, judges, Self.role, address)
        #expect(
            run.outputText == "ASIA 40 True\narn:aws:sts::123456789012:assumed-role/deploy/octocat\n",
            "\(run.outputText) \(run.errorText)")
        moto.closeInput()
        _ = try await moto.finish()
    }

    // MARK: - One request for all

    @Test func `twenty-four callers make one request, even if one of them is killed`() async throws {
        let service = try await service()
        try await service.change(#"{"held": true}"#)
        let first = try BuiltProducts.latchkey().start(arguments(service.address), environment: scene.environment)
        try await service.wait(forRequests: 1)
        let running = try (0..<24).map { _ in
            try BuiltProducts.latchkey().start(arguments(service.address), environment: scene.environment)
        }
        // With the worker that has the lease.
        first.kill()
        try await service.change(#"{"held": false}"#)
        var answers: Set<String> = []
        for program in running { answers.insert(try await program.finish().successful("helper aws").outputText) }
        #expect(answers.count == 1 && service.requests.count == 2, "\(service.requests)")
        let expected = "octocat as octocat asks for \(Self.role)"
        #expect(service.requests.allSatisfy { $0 == expected }, "\(service.requests)")
        let later = try await ask(service.address).outputText
        #expect(answers == [later] && service.requests.count == 2)
        // Another role has credentials of its own.
        let other = try await ask(service.address, role: "arn:aws:iam::123456789012:role/read").outputText
        #expect(answers != [other] && service.requests.count == 3)
        // Those of the first are still there, and a sign-out takes all with it.
        #expect(try await ask(service.address).outputText == later && service.requests.count == 3)
        #expect(try await scene.latchkey("list", "--all").contains("aws-role-"))
        try await scene.latchkey("sign-out", "work")
        #expect(try await !scene.latchkey("list", "--all").contains("aws-role-"))
        let gone = try await ask(service.address)
        #expect(
            gone.status == 1 && gone.output.isEmpty && gone.errorText.contains("sign-in work"), "\(gone.errorText)")
    }

    @Test func `a sign-out during the request leaves no credentials`() async throws {
        let service = try await service()
        try await service.change(#"{"held": true}"#)
        let asking = try BuiltProducts.latchkey().start(arguments(service.address), environment: scene.environment)
        try await service.wait(forRequests: 1)
        try await scene.latchkey("sign-out", "work")
        try await service.change(#"{"held": false}"#)
        let run = try await asking.finish()
        #expect(run.status == 1 && run.output.isEmpty && run.errorText.contains("sign-in work"), "\(run.errorText)")
        #expect(try await !scene.latchkey("list", "--all").contains("aws-role-"))
    }

    @Test func `credentials that end at once are returned, and not stored`() async throws {
        let service = try await service()
        try await service.change(#"{"lifetime": 200}"#)
        let first = try await ask(service.address).successful("helper aws").outputText
        #expect(try await ask(service.address).successful("helper aws").outputText != first)
        #expect(service.requests.count == 2)
    }

    // MARK: - Refusals

    @Test(arguments: [
        ("AccessDenied", "trust policy"), ("InvalidIdentityToken", "OpenID Connect provider"),
        ("ExpiredTokenException", "sign in again"), ("Evil<Code>", "403"), ("\u{1B}[31m", "403"),
    ])
    func `a refusal says what to do, without the server's own words`(code: String, hint: String)
        async throws
    {
        let service = try await service()
        try await service.change(String(decoding: JSONEncoder().encode(["code": code]), as: UTF8.self))
        let run = try await ask(service.address)
        #expect(run.status == 77 && run.output.isEmpty && run.errorText.contains(hint), "\(run.errorText)")
        #expect(run.errorText.count { $0 == "\n" } == 1 && !run.errorText.contains("Not for you"), "\(run.errorText)")
        #expect(!run.errorText.contains("\u{1B}") && !run.errorText.contains("Evil"))
        #expect(try await !scene.latchkey("list", "--all").contains("aws-role-"))
    }

    @Test func `a busy service is one to ask again`() async throws {
        let service = try await service()
        try await service.change(#"{"code": "Throttling", "status": 400}"#)
        let run = try await ask(service.address)
        #expect(run.status == 75 && run.errorText.contains("try again later"), "\(run.errorText)")
    }

    private static let whole =
        "<SessionToken>t</SessionToken><SecretAccessKey>s</SecretAccessKey>"
        + "<Expiration>2040-01-01T00:00:00Z</Expiration><AccessKeyId>ASIA</AccessKeyId>"

    @Test(arguments: [
        "", "{}", String(whole.dropLast(2)), whole + "<SessionToken>u</SessionToken>",
        whole.replacing("<SecretAccessKey>s", with: "<SecretAccessKey>"), whole.replacing(">s<", with: ">&lt;<"),
        whole.replacing(">s<", with: ">a\u{7}<"), whole.replacing("2040-01-01T00:00:00Z", with: "tomorrow"),
        whole.replacing("00Z", with: "00+02:00"), whole.replacing(">s<", with: "><b>s</b><"),
        whole.replacing(">t<", with: ">" + String(repeating: "t", count: 20_000) + "<"),
        String(repeating: "<SessionToken>", count: 50_000),
    ])
    func `a response without usable credentials is refused, and nothing is stored`(body: String) async throws {
        let service = try await service()
        try await service.change(String(decoding: JSONEncoder().encode(["body": body]), as: UTF8.self))
        let run = try await ask(service.address)
        #expect(run.status == 76 && run.output.isEmpty, "\(run.errorText)")
        #expect(try await !scene.latchkey("list", "--all").contains("aws-role-"))
    }

    @Test func `a redirect isn't followed with the token, and a missing service is reported`() async throws {
        let service = try await service()
        try await service.change(#"{"body": "", "status": 307}"#)
        let run = try await ask(service.address)
        #expect(run.status == 76 && service.requests.count == 1, "\(run.errorText)")
        let nobody = try await ask("http://127.0.0.1:1")
        #expect(nobody.status == 69 && nobody.errorText.contains("no server responds"), "\(nobody.errorText)")
    }

    @Test(arguments: [
        "deploy", "arn:aws:iam::123456789012:user/ada", "arn:aws:s3:::bucket", "arn:aws:iam::123456789012:role/",
        "arn:aws:iam:eu:123456789012:role/x", "arn:aws:iam::1234 56789012:role/x", "arn:aws:iam::1:role/a\nb",
        "arn:aws:iam::1:role/" + String(repeating: "x", count: 2048),
    ])
    func `an invalid role is refused with a hint`(role: String) async throws {
        let run = try await ask("http://127.0.0.1:1", role: role)
        #expect(run.status == 64 && run.errorText.contains("arn:aws:iam::123456789012:role/"), "\(run.errorText)")
    }

    @Test(arguments: ["", "sts.amazonaws.com", "http://sts.amazonaws.com", "ftp://127.0.0.1", "https://a.example/#x"])
    func `a service that isn't allowed to get the token is refused`(endpoint: String) async throws {
        let run = try await ask(endpoint)
        #expect(run.status == 64 && run.errorText.contains("--sts-endpoint"), "\(run.errorText)")
    }

    @Test func `without an ID token the error names the scope that brings one`() async throws {
        let service = try await service()
        try await signIn("--scope", "read", "--account", "octocat")
        let run = try await ask(service.address)
        #expect(run.status == 77 && run.errorText.contains("openid") && service.requests.isEmpty, "\(run.errorText)")
    }
}

/// The stand-in of sts_server.py.
struct SecurityTokenServer {
    private let program: RunningProgram
    let address: String

    init(issuer: String) async throws {
        let program = try Program("/usr/bin/python3").start([HelperScene.fixture("sts_server.py"), issuer, "latchkey"])
        try await program.wait(for: "its address") { program.outputSoFar.contains("\n") }
        self.program = program
        address = String(program.outputSoFar.prefix { $0 != "\n" })
    }

    private var lines: [Substring] { program.outputSoFar.split(separator: "\n").dropFirst().map(\.self) }

    var requests: [String] { lines.filter { $0 != "changed" }.map(String.init) }

    func change(_ settings: String) async throws {
        let count = lines.count { $0 == "changed" }
        program.type(settings + "\n")
        try await program.wait(for: "its change") { lines.count { $0 == "changed" } > count }
    }

    func wait(forRequests count: Int) async throws {
        try await program.wait(for: "a request") { requests.count >= count }
    }
}
