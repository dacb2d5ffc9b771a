import Foundation
import LatchkeyTestServer
import TestServices
import Testing

/// What other programs' helpers saved through the served vault, in shapes of their own: our helpers find it in the vault as
/// they find it in the desktop's keyring.
struct ForeignItemTests {
    private let scene: KeyringScene

    init() async throws { scene = try await KeyringScene() }

    private func helper(_ arguments: String..., input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["helper"] + arguments, environment: scene.environment, input: Array(input.utf8),
            folder: scene.directory.path)
    }

    private func served(_ script: String) async throws -> ProgramRun {
        try await scene.shell("latchkey keyring run -- sh -c '\(script)'")
    }

    @Test func `git's own helper's items are read by name`() async throws {
        let session = try await PrivateSession(.none)
        let theirs = try await GitCredentialLibsecret(on: session).program.path
        let login = "protocol=https\\nhost=git.example:8443\\nusername=ada\\npassword=theirs\\n\\n"
        try await served("printf \"\(login)\" | git -c credential.helper=\(theirs) credential approve").successful(
            "store")
        let request = "protocol=https\nhost=git.example:8443\n"
        let found = try await helper("git", "get", input: request + "\n")
        #expect(found.outputText == "username=ada\npassword=theirs\n", "\(found.errorText)")
        #expect(try await helper("git", "get", input: request + "username=ada\n\n").outputText == found.outputText)
        #expect(try await helper("git", "get", input: request + "username=bob\n\n").outputText == "")
        #expect(try await helper("git", "get", input: "protocol=https\nhost=git.example\n\n").outputText == "")
        // What is there isn't stored again.
        try await helper("git", "store", input: request + "username=ada\npassword=theirs\n\n").successful("store")
        #expect(try await scene.latchkey("list").outputText == "")
        // Another password is another's; the refused one goes.
        try await helper("git", "erase", input: request + "username=ada\npassword=other\n\n").successful("erase")
        #expect(try await helper("git", "get", input: request + "\n").outputText == found.outputText)
        try await helper("git", "erase", input: request + "username=ada\npassword=theirs\n\n").successful("erase")
        #expect(try await helper("git", "get", input: request + "\n").outputText == "")
        #expect(
            try await served("printf \"protocol=https\\nhost=git.example:8443\\n\\n\" | \(theirs) get").outputText == ""
        )
        #expect(try await scene.latchkey("vault", "verify").status == 0)
    }

    @Test func `git's item matches only its own scheme, host, port, path and user`() async throws {
        try await scene.shell(
            """
            latchkey keyring run -- python3 -c '
            import secretstorage
            collection = secretstorage.get_default_collection(secretstorage.dbus_init())
            git = {"xdg:schema": "org.git.Password", "server": "git.example", "user": "ada", "protocol": "https"}
            for label, others in [
                ("Git: http", {"protocol": "http"}), ("Git: port", {"port": "8443"}), ("Git: path", {"object": "a/b"}),
                ("Git: slash", {"server": "git.example/x"}), ("Git: host", {"server": "git.example.evil"}),
                ("Git: port in the host", {"server": "git.example:9000"}),
                ("Network", {"xdg:schema": "org.gnome.keyring.NetworkPassword", "port": "9001"}),
                ("Git: docker", {"docker_cli": "1", "username": "ada", "port": "9002"}),
                ("Git: cargo", {"xdg:schema": "org.rust-lang.cargo.registry", "url": "u", "port": "9003"}),
                ("Git: keytar", {"service": "git:https://git.example:9004", "account": "ada", "port": "9005"}),
            ]: collection.create_item(label, {**git, **others}, label.encode(), replace=False)'
            """
        ).successful("python")
        func password(_ scheme: String, _ host: String, _ path: String = "") async throws -> String {
            let more = path.isEmpty ? "" : "path=\(path)\n"
            let run = try await helper("git", "get", input: "protocol=\(scheme)\nhost=\(host)\n\(more)\n")
            return run.outputText.components(separatedBy: "password=").last ?? ""
        }
        #expect(try await password("http", "git.example") == "Git: http\n")
        #expect(try await password("https", "git.example:8443") == "Git: port\n")
        #expect(try await password("https", "git.example", "a/b") == "Git: path\n")
        #expect(try await password("https", "git.example.evil") == "Git: host\n")
        let ports = ["git.example", "evil", "git.example:8444", "git.example:443"]
        for host in ports + (9000...9004).map({ "git.example:\($0)" }) {
            #expect(try await password("https", host) == "", "\(host)")
        }
        for (host, path) in [("git.example", "x"), ("git.example", "a"), ("git.example:8443", "a/b")] {
            #expect(try await password("https", host, path) == "", "\(host)/\(path)")
        }
        #expect(try await password("http", "git.example:8443") == "")
    }

    @Test func `of several users' items from another helper git gets the last one`() async throws {
        try await scene.shell(
            """
            latchkey keyring run -- python3 -c '
            import secretstorage, time
            collection = secretstorage.get_default_collection(secretstorage.dbus_init())
            for user in ["ada", "eve", "bob"]:
                collection.create_item("Git: x", {"xdg:schema": "org.git.Password", "protocol": "https",
                    "server": "git.example", "user": user}, user.encode())
                time.sleep(1.1)'
            """
        ).successful("python")
        let found = try await helper("git", "get", input: "protocol=https\nhost=git.example\n\n")
        #expect(found.outputText == "username=bob\npassword=bob\n", "\(found.errorText)")
    }

    @Test func `the helper reads items of docker's own helper`() async throws {
        let server = "https://registry.example/v1/"
        let login = "{\"ServerURL\":\"\(server)\",\"Username\":\"bob\",\"Secret\":\"theirs\"}"
        try await served(
            "printf %s \"\(login.replacingOccurrences(of: "\"", with: "\\\""))\" | docker-credential-secretservice store"
        )
        .successful("store")
        #expect(try await helper("docker", "get", input: server).outputText == login)
        #expect(try await helper("docker", "list").outputText == "{\"\(server)\":\"bob\"}\n")
        // What is saved here goes before it.
        let own = login.replacingOccurrences(of: "theirs", with: "ours")
        try await helper("docker", "store", input: own).successful("store")
        #expect(try await helper("docker", "get", input: server).outputText == own)
        try await helper("docker", "erase", input: server).successful("erase")
        #expect(try await helper("docker", "get", input: server).status == 1)
        #expect(try await served("printf %s \(server) | docker-credential-secretservice get").status == 1)
    }

    @Test func `the helper reads items of Python keyring's own store`() async throws {
        try await scene.shell(
            "latchkey keyring run -- python3 -c 'import keyring; keyring.set_password(\"pypi.example\", \"ada\", \"theirs\")'"
        ).successful("python")
        let found = try await helper("keyring", "get", "pypi.example", "ada")
        #expect(found.outputText == "theirs\n", "\(found.errorText)")
        #expect(try await scene.latchkey("get", "pypi.example", "ada").outputText == "theirs")
    }

    @Test func `the helper reads items of cargo's own store, and items named like keytar's`() async throws {
        try await served(
            """
            printf theirs | secret-tool store --label=x url sparse+https://crates.example/ \
                xdg:schema org.rust-lang.cargo.registry
            printf keytar | secret-tool store --label=x service git:https://gcm.example account ada
            """
        ).successful("store")
        let request =
            #"{"v":1,"registry":{"index-url":"sparse+https://crates.example/"},"kind":"get","operation":"read","args":[]}"#
        let answer = try await helper("cargo", "--cargo-plugin", input: request + "\n")
        #expect(answer.outputText.contains(#""token":"theirs""#), "\(answer.outputText) \(answer.errorText)")
        let git = try await helper("git", "get", input: "protocol=https\nhost=gcm.example\n\n")
        #expect(git.outputText == "username=ada\npassword=keytar\n", "\(git.errorText)")
    }
}

/// `latchkey` itself as one of the programs that a vault is served to.
struct ServedSignInTests {
    private static let browser = "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n"

    private let scene: KeyringScene
    private let server: LoopbackAuthorizationServer

    init() async throws {
        scene = try await KeyringScene()
        server = try LoopbackAuthorizationServer()
        try scene.directory.write("browser", Self.browser, mode: 0o700)
        try await scene.latchkey("provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey")
            .successful("provider add")
    }

    private func latchkey(_ command: String, inStore store: String) async throws -> ProgramRun {
        try await scene.shell(command, ["LATCHKEY_STORE": store, "BROWSER": scene.directory / "browser"])
    }

    @Test func `a sign-in beside the served vault is one inside and outside of it`() async throws {
        try await latchkey("latchkey keyring run -- latchkey sign-in work", inStore: "vault").successful("sign-in")
        let inside = try await latchkey("latchkey keyring run -- latchkey token work", inStore: "vault")
        let outside = try await latchkey("latchkey token work", inStore: "vault")
        #expect(inside.status == 0 && outside.outputText == inside.outputText, "\(outside.errorText)")
    }

    @Test func `a sign-in through the served keyring lasts there, and is no session of the vault`() async throws {
        let served = "LATCHKEY_STORE=secret-service latchkey"
        try await latchkey("latchkey keyring run -- sh -c '\(served) sign-in work'", inStore: "vault")
            .successful("sign-in")
        let token = try await latchkey("latchkey keyring run -- sh -c '\(served) token work'", inStore: "vault")
        #expect(token.status == 0 && !token.outputText.isEmpty, "\(token.errorText)")
        // A program on the bus can't make a session of the vault.
        #expect(try await latchkey("latchkey token work", inStore: "vault").status == 1)
        let items = try await scene.latchkey("list", "--items").outputText
        #expect(items.contains("latchkey:kind=session"), "\(items)")
    }
}
