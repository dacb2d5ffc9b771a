import Foundation
import Testing
import TestServices

/// The AWS tools' credential_process, and Go's GOAUTH.
@Suite struct CloudHelperTests {
    private static let judges = TestData.package
        .appendingPathComponent(".build/judges/python/bin").path

    @Test(arguments: HelperScene.Store.allCases)
    func `botocore signs with the key of its profile`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        try await scene.latchkey("set", "aws:work", "AKIAIOSFODNN7EXAMPLE", input: "secret/of+aws\n")
        let work = try await scene.shell(
            """
            mkdir -p home/.aws
            printf '[profile work]\ncredential_process = %s/latchkey helper aws work\n[profile other]\ncredential_process = %s/latchkey helper aws other\n' \
                "$PWD/bin" "$PWD/bin" > home/.aws/config
            "$1/python" -c '
            import botocore.session, botocore.exceptions
            keys = botocore.session.Session(profile="work").get_credentials().get_frozen_credentials()
            print(keys.access_key, keys.secret_key, keys.token)
            try:
                botocore.session.Session(profile="other").get_credentials()
            except botocore.exceptions.CredentialRetrievalError as error:
                print(error)
            '
            """, Self.judges)
        #expect(work.outputText.hasPrefix("AKIAIOSFODNN7EXAMPLE secret/of+aws None\n"), "\(work.errorText)")
        #expect(
            work.outputText.contains(
                "latchkey: no access key is stored for aws:other; store one: latchkey set aws:other"))
    }

    @Test func `the answer is the key that --account names, and options of a role need one`() async throws {
        let scene = try await HelperScene()
        for name in ["AKIAOLD", "AKIANEW"] { try await scene.latchkey("set", "aws:work", name, input: "of \(name)") }
        let old = try await scene.helper("latchkey", "helper", "aws", "work", "--account", "AKIAOLD")
        #expect(old.outputText.contains("\"AccessKeyId\":\"AKIAOLD\",\"SecretAccessKey\":\"of AKIAOLD\""))
        #expect(try await scene.helper("latchkey", "helper", "aws", "work", "--account", "none").status == 1)
        for option in ["--sts-endpoint=https://sts.example", "--ca-file=/x"] {
            let run = try await scene.helper("latchkey", "helper", "aws", "work", option)
            #expect(run.status == 64 && run.output.isEmpty, "\(run.errorText)")
        }
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `Go gets git's credentials for a private module's host`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let authority = try await CertificateAuthority(in: scene.directory)
        let server = try await FixtureServer(
            "tls_server.py", authority.serverChain, authority.serverKey, "Basic YWRhOnMzY3JldA==")
        try await scene.latchkey("set", "git:https://\(server.host)", "ada", input: "s3cret")
        try scene.stopTelemetryOfGo()
        let script = """
            export GOAUTH="latchkey helper go" GOPROXY="https://$1/proxy" GONOSUMDB='*' GOFLAGS=-mod=mod GOTOOLCHAIN=local
            export SSL_CERT_FILE="$2" GOPATH=$PWD/go GOCACHE=$PWD/go-cache GOENV=off
            mkdir -p module && cd module && [ -f go.mod ] || "$3/go" mod init example.org/own
            "$3/go" list -m -versions example.org/private
            """
        let run = try await scene.shell(script, server.host, authority.certificate, Self.judges)
        #expect(run.outputText.contains("example.org/private v1.0.0"), "\(run.errorText)")
        #expect(server.requests.contains { $0.hasPrefix("let in /proxy/example.org/private") })
        try await scene.latchkey("delete", "git:https://\(server.host)", "ada")
        let refused = try await scene.shell(script, server.host, authority.certificate, Self.judges)
        #expect(refused.status != 0)
    }

    @Test func `Go's first question gets an empty response, and each set ends with an empty line`() async throws {
        let scene = try await HelperScene()
        try await scene.latchkey("set", "git:https://go.example/team", "ada", input: "s3cret")
        let first = try await scene.helper("latchkey", "helper", "go")
        #expect(first.status == 0 && first.output.isEmpty)
        let set = "https://go.example/team\n\nAuthorization: Basic YWRhOnMzY3JldA==\n\n"
        let second = try await scene.helper("latchkey", "helper", "go", "https://go.example/team/module?go-get=1")
        #expect(second.outputText == set)
        for address in ["https://go.example/other", "http://go.example/team/module", "https://team"] {
            let run = try await scene.helper("latchkey", "helper", "go", address)
            #expect(run.status == 0 && run.output.isEmpty && run.errorOutput.isEmpty)
        }
    }

    // MARK: - Terraform, which isn't here: its exchanges as its documentation has them

    private func terraform(_ scene: HelperScene, _ verb: String, _ host: String, _ input: String = "") async throws
        -> ProgramRun
    {
        try await scene.helper("terraform-credentials-latchkey", verb, host, input: input)
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `Terraform's helper gets, stores and forgets`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        #expect(try await terraform(scene, "get", "app.terraform.io").outputText == "{}\n")
        #expect(try await terraform(scene, "forget", "app.terraform.io").status == 0)
        let stored = try await terraform(scene, "store", "App.Terraform.io", "{\"token\": \"a \\u0022token\"}")
        #expect(stored.status == 0 && stored.output.isEmpty && stored.errorOutput.isEmpty)
        #expect(try await terraform(scene, "get", "app.terraform.io").outputText == "{\"token\":\"a \\\"token\"}")
        let empty = try await terraform(scene, "store", "app.terraform.io", "{\"token\": \"\"}")
        #expect(empty.status == 65 && empty.errorText.contains("the secret is empty"), "\(empty.errorText)")
        #expect(try await terraform(scene, "get", "app.terraform.io").outputText == "{\"token\":\"a \\\"token\"}")
        #expect(try await terraform(scene, "get", "app.terraform.io:8443").outputText == "{}\n")
        #expect(try await terraform(scene, "forget", "app.terraform.io").output.isEmpty)
        #expect(try await terraform(scene, "get", "app.terraform.io").outputText == "{}\n")
    }

    @Test(arguments: [
        "", "{}", "{\"token\":1}", "{\"token\":\"a\",\"other\":\"b\"}", "{\"token\":{\"a\":1}}", "[\"token\"]",
    ])
    func `an object with members that would be lost is refused`(_ input: String) async throws {
        let scene = try await HelperScene()
        let run = try await terraform(scene, "store", "app.terraform.io", input)
        #expect(run.status == 65 && run.output.isEmpty && run.errorText.count { $0 == "\n" } == 1)
        #expect(try await scene.helper("terraform-credentials-latchkey", "dream", "host").status == 64)
    }
}
