import Foundation
import Testing
import TestServices

/// git asks, as gitcredentials(7) says; git 2.39 itself, and git's own suite for helpers that aren't git's.
@Suite struct GitHelperTests {
    /// Where `Scripts/judges` puts it.
    private static let suite = TestData.package
        .appendingPathComponent(".build/judges/git/t/lib-credential.sh").path

    @Test(arguments: HelperScene.Store.allCases)
    func `git's own suite for credential helpers passes, all twelve cases`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        #expect(FileManager.default.fileExists(atPath: Self.suite), "run Scripts/judges")
        let run = try await scene.shell(
            "sh \"$1\" \"$2\" latchkey", HelperScene.fixture("credential_suite.sh"), Self.suite)
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
        #expect(run.outputText.hasSuffix("1..12\n"))
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `git clones and pushes with the helper, and erases a refused password`(_ store: HelperScene.Store) async throws
    {
        let scene = try await HelperScene(store)
        let password = try scene.directory.write("server-password", "right")
        let folder = try scene.directory.makeFolder("repositories")
        try await scene.shell(
            "git init --quiet --bare \"$1/project.git\" && git -C \"$1/project.git\" config http.receivepack true",
            folder
        ).successful("git init")
        let server = try await FixtureServer("git_server.py", folder, "ada", password)
        let keep = try await scene.helper(
            "git-credential-latchkey", "store",
            input: "protocol=http\nhost=\(server.host)\nusername=ada\npassword=right\n\n")
        #expect(keep.status == 0 && keep.errorText.isEmpty)
        let work = try await scene.shell(
            """
            set -e
            export GIT_TERMINAL_PROMPT=0 GIT_CONFIG_NOSYSTEM=1
            git config --global credential.helper latchkey
            git config --global user.name Ada; git config --global user.email ada@example.org
            git clone "http://$1/project.git" clone
            cd clone && echo text > file && git add file && git commit -qm First && git push origin HEAD:main
            """, server.host)
        #expect(work.status == 0, "\(work.errorText)")
        #expect(try await scene.latchkey("get", "git:http://\(server.host)", "ada") == "right")

        try scene.directory.write("server-password", "changed")
        let refused = try await scene.shell("cd clone && GIT_TERMINAL_PROMPT=0 git pull origin main", server.host)
        #expect(refused.status != 0)
        let gone = try await BuiltProducts.latchkey().run(
            ["get", "git:http://\(server.host)", "ada"], environment: scene.environment)
        #expect(gone.status == 1)
    }

    // MARK: - Exchanges

    private func exchange(
        _ scene: HelperScene, _ verb: String, _ lines: String...
    ) async throws -> ProgramRun {
        try await scene.helper(
            "git-credential-latchkey", verb, input: lines.map { $0 + "\n" }.joined() + "\n")
    }

    private let host = ["protocol=https", "host=example.org"]

    /// An import of such a line left git without the login.
    @Test(arguments: HelperScene.Store.allCases)
    func `a password for a path answers if git asks for no path, as git credential-store does`(
        _ store: HelperScene.Store
    ) async throws {
        let scene = try await HelperScene(store)
        try scene.directory.write("credentials", "https://ada:pw@example.org/a/b.git\n")
        try await scene.latchkey("import", "git", scene.directory / "credentials", "--empty-source")
        let whole = "username=ada\npassword=pw\n"
        for (path, answer) in [("", whole), ("path=a/b.git\n", whole), ("path=other.git\n", "")] {
            let input = "protocol=https\nhost=example.org\n\(path)\n"
            #expect(try await scene.helper("git-credential-latchkey", "get", input: input).outputText == answer)
        }
        for host in ["host=example.org:8443", "host=example.or"] {
            #expect(try await exchange(scene, "get", "protocol=https", host).outputText.isEmpty)
        }
        // What git stores after it got that is no second secret.
        _ = try await exchange(scene, "store", "protocol=https", "host=example.org", "username=ada", "password=pw")
        #expect(try await !scene.latchkey("list").contains("git:https://example.org "))
        // One that has ended doesn't hide it.
        _ = try await exchange(
            scene, "store", "protocol=https", "host=example.org", "path=late", "username=ada", "password=late",
            "password_expiry_utc=1000000000")
        #expect(try await exchange(scene, "get", "protocol=https", "host=example.org").outputText == whole)
        // Another path of the host may have refused it, so the person decides.
        for (password, said) in [
            ("another", ""),
            (
                "pw",
                "latchkey: the server refused the password for git:https://example.org/a/b.git/ada; "
                    + "to delete it: latchkey delete git:https://example.org/a/b.git ada\n"
            ),
        ] {
            let run = try await exchange(
                scene, "erase", "protocol=https", "host=example.org", "username=ada", "password=\(password)")
            #expect(run.status == 0 && run.errorText == said, "\(run.errorText)")
            #expect(try await exchange(scene, "get", "protocol=https", "host=example.org").outputText == whole)
        }
    }

    @Test func `a netrc's host is found in whatever case`() async throws {
        let scene = try await HelperScene(.vault)
        try scene.directory.write("netrc", "machine Example.ORG login ada password pw\n")
        let run = try await BuiltProducts.latchkey().run(
            ["import", "netrc", scene.directory / "netrc", "--empty-source"], environment: scene.environment)
        #expect(run.status == 0 && run.errorText.contains("https:// without a port"), "\(run.errorText)")
        for host in ["host=EXAMPLE.org", "host=example.org"] {
            let answer = try await exchange(scene, "get", "protocol=https", host).outputText
            #expect(answer == "username=ada\npassword=pw\n")
        }
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `git gets its expiry and refresh token back, until the expiry`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        _ = try await exchange(
            scene, "store", "protocol=https", "host=example.org", "username=ada", "password=first",
            "password_expiry_utc=4102444800", "oauth_refresh_token=again")
        let run = try await exchange(scene, "get", "protocol=https", "host=example.org")
        #expect(
            run.outputText
                == "username=ada\npassword=first\npassword_expiry_utc=4102444800\noauth_refresh_token=again\n")
        _ = try await exchange(
            scene, "store", "protocol=https", "host=example.org", "username=ada", "password=second",
            "password_expiry_utc=1000000000")
        let ended = try await exchange(scene, "get", "protocol=https", "host=example.org")
        #expect(ended.output.isEmpty && ended.status == 0)
    }

    @Test func `erase deletes only the refused password`() async throws {
        let scene = try await HelperScene()
        _ = try await exchange(scene, "store", "protocol=https", "host=example.org", "username=ada", "password=new")
        _ = try await exchange(scene, "erase", "protocol=https", "host=example.org", "username=ada", "password=old")
        #expect(try await scene.latchkey("get", "git:https://example.org", "ada") == "new")
        _ = try await exchange(scene, "erase", "protocol=https", "host=example.org", "username=ada", "password=new")
        #expect(try await exchange(scene, "get", "protocol=https", "host=example.org").output.isEmpty)
    }

    @Test func `of several users git gets the one stored last, and each by name`() async throws {
        let scene = try await HelperScene()
        for user in ["ada", "bob", "eve"] {
            _ = try await exchange(
                scene, "store", "protocol=https", "host=example.org", "username=\(user)", "password=of \(user)")
        }
        let bob = try await exchange(scene, "get", "protocol=https", "host=example.org", "username=bob")
        #expect(bob.outputText == "username=bob\npassword=of bob\n")
        let unknown = try await exchange(scene, "get", "protocol=https", "host=example.org", "username=nobody")
        #expect(unknown.output.isEmpty && unknown.status == 0 && unknown.errorOutput.isEmpty)
    }

    /// The server of one account's repository refused the other account's good password, and git had it deleted.
    @Test(arguments: HelperScene.Store.allCases)
    func `a refused password of one of several accounts stays`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        for user in ["ada", "bob"] {
            _ = try await exchange(
                scene, "store", "protocol=https", "host=example.org", "username=\(user)", "password=of \(user)")
        }
        let refusal = ["protocol=https", "host=example.org", "username=bob", "password=of bob"]
        let run = try await exchange(scene, "erase", refusal[0], refusal[1], refusal[2], refusal[3])
        #expect(
            run.status == 0
                && run.errorText == "latchkey: the server refused the password for git:https://example.org/bob; "
                    + "to delete it: latchkey delete git:https://example.org bob\n",
            "\(run.errorText)")
        #expect(try await scene.latchkey("get", "git:https://example.org", "bob") == "of bob")
        try await scene.latchkey("delete", "git:https://example.org", "ada")
        let alone = try await exchange(scene, "erase", refusal[0], refusal[1], refusal[2], refusal[3])
        #expect(alone.status == 0 && alone.errorOutput.isEmpty)
        #expect(try await exchange(scene, "get", "protocol=https", "host=example.org").output.isEmpty)
    }

    @Test func `git is told of a secret that it can't read`() async throws {
        let scene = try await HelperScene()
        for secret in ["two\nlines", "nul\0byte"] {
            try await scene.latchkey("set", "git:https://example.org", "eve", input: secret)
            let run = try await exchange(scene, "get", "protocol=https", "host=example.org")
            #expect(run.status == 0 && run.output.isEmpty)
            #expect(
                run.errorText
                    == "latchkey: the secret for git:https://example.org/eve has several lines or a NUL byte, so git can't use it\n"
            )
        }
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `a newer password that git can't use doesn't hide another user's`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        _ = try await exchange(scene, "store", "protocol=https", "host=example.org", "username=ada", "password=good")
        _ = try await exchange(
            scene, "store", "protocol=https", "host=example.org", "username=bob", "password=late",
            "password_expiry_utc=1000000000")
        try await scene.latchkey("set", "git:https://example.org", "eve", input: "two\nlines")
        let run = try await exchange(scene, "get", "protocol=https", "host=example.org")
        #expect(run.outputText == "username=ada\npassword=good\n")
        let go = try await scene.helper("latchkey", "helper", "go", "https://example.org/module")
        #expect(go.outputText == "https://example.org\n\nAuthorization: Basic YWRhOmdvb2Q=\n\n")
    }

    /// Of eight, several said that the credential was changed since it was read.
    @Test func `concurrent requests to erase one password all succeed`() async throws {
        let scene = try await HelperScene()
        for _ in 0..<4 {
            for user in ["ada", "bob"] {
                _ = try await exchange(
                    scene, "store", "protocol=https", "host=example.org", "username=\(user)", "password=p")
            }
            try await withThrowingTaskGroup(of: ProgramRun.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await exchange(scene, "erase", "protocol=https", "host=example.org", "password=p")
                    }
                }
                for try await run in group { #expect(run.status == 0, "\(run.errorText)") }
            }
            #expect(try await exchange(scene, "get", "protocol=https", "host=example.org").output.isEmpty)
        }
    }

    @Test func `ports, IPv6, paths and names outside of ASCII are a part of the name`() async throws {
        let scene = try await HelperScene()
        for host in ["example.org", "example.org:8443", "[::1]:3000", "bücher.example"] {
            _ = try await exchange(scene, "store", "protocol=https", "host=\(host)", "username=a", "password=\(host)")
        }
        for host in ["example.org", "example.org:8443", "[::1]:3000", "bücher.example"] {
            let run = try await exchange(scene, "get", "protocol=https", "host=\(host)")
            #expect(run.outputText == "username=a\npassword=\(host)\n")
        }
        #expect(try await exchange(scene, "get", "protocol=https", "host=example.org:1").output.isEmpty)
        #expect(try await exchange(scene, "get", "protocol=https", "host=example.org", "path=a.git").output.isEmpty)
    }

    @Test func `git gets passwords imported from its file, or saved by hand with a line break`() async throws {
        let scene = try await HelperScene()
        try scene.directory.write("home/.git-credentials", "https://ada:from%20file@example.org\n")
        try await scene.latchkey("import", "--from", "git")
        let imported = try await exchange(scene, "get", "protocol=https", "host=example.org")
        #expect(imported.outputText == "username=ada\npassword=from file\n")
        try await scene.latchkey("set", "git:https://other.example", "bob", input: "by hand\n")
        let saved = try await exchange(scene, "get", "protocol=https", "host=other.example")
        #expect(saved.outputText == "username=bob\npassword=by hand\n")
    }

    @Test func `items of git's own helper and Git Credential Manager are read, stored once, and erased`()
        async throws
    {
        let scene = try await HelperScene(.secretService)
        let desktop = try #require(scene.desktop)
        try await GitCredentialLibsecret(on: desktop)(
            "store", ["protocol": "https", "host": "own.example", "username": "ada", "password": "git's"])
        try await Program("secret-tool").run(
            ["store", "--label=GCM", "service", "git:https://gcm.example", "account", "ada"],
            environment: scene.environment, input: Array("gcm's".utf8)
        ).successful("secret-tool")
        for (host, password) in [("own.example", "git's"), ("gcm.example", "gcm's")] {
            let login = ["protocol=https", "host=\(host)", "username=ada", "password=\(password)"]
            let got = try await exchange(scene, "get", "protocol=https", "host=\(host)")
            #expect(got.outputText == "username=ada\npassword=\(password)\n", "\(got.errorText)")
            _ = try await exchange(scene, "store", login[0], login[1], login[2], login[3])
            #expect(try await !scene.latchkey("list").contains(host))
            _ = try await exchange(scene, "erase", login[0], login[1], login[2], "password=another")
            #expect(try await !exchange(scene, "get", "protocol=https", "host=\(host)").output.isEmpty)
            _ = try await exchange(scene, "erase", login[0], login[1], login[2], login[3])
            #expect(try await exchange(scene, "get", "protocol=https", "host=\(host)").output.isEmpty)
        }
    }

    @Test func `the helper ignores future verbs, and announces its capabilities`() async throws {
        let scene = try await HelperScene()
        let unknown = try await scene.helper("git-credential-latchkey", "dream", input: "protocol=https\n\n")
        #expect(unknown.status == 0 && unknown.output.isEmpty && unknown.errorOutput.isEmpty)
        let said = try await scene.helper("git-credential-latchkey", "capability")
        #expect(said.outputText == "version 0\ncapability authtype\n")
    }

    @Test(arguments: [
        "no equals sign\n\n", "host=a\0b\n\n", String(repeating: "x", count: 65_530) + "=1234567\n\n",
    ])
    func `an invalid request is refused in one line, without a response`(_ input: String) async throws {
        let scene = try await HelperScene()
        for verb in ["get", "store", "erase"] {
            let run = try await scene.helper("git-credential-latchkey", verb, input: input)
            #expect(run.status == 65 && run.output.isEmpty)
            #expect(run.errorText.hasPrefix("latchkey: ") && run.errorText.count { $0 == "\n" } == 1)
        }
    }

    @Test func `a request without its end, a flood, and an empty input end the helper too`() async throws {
        let scene = try await HelperScene()
        _ = try await exchange(scene, "store", "protocol=https", "host=example.org", "username=ada", "password=p")
        let half = try await scene.helper("git-credential-latchkey", "get", input: "protocol=https\nhost=example.org")
        #expect(half.outputText == "username=ada\npassword=p\n")
        let flood = try await scene.helper(
            "git-credential-latchkey", "get", input: String(repeating: "key=value\n", count: 200_000))
        #expect(flood.status == 65 && flood.output.isEmpty)
        let none = try await scene.shell("git-credential-latchkey get <&-")
        #expect(none.output.isEmpty)
    }

    /// git's own reader once took a carriage return for a line's end (CVE-2024-52006).
    @Test func `a carriage return doesn't end a line`() async throws {
        let scene = try await HelperScene()
        _ = try await exchange(scene, "store", "protocol=https", "host=example.org", "username=ada", "password=p")
        let run = try await exchange(scene, "get", "protocol=https", "host=example.org\r")
        #expect(run.output.isEmpty)
    }

    @Test func `for a locked vault the helper says in one line what to do, and doesn't ask`() async throws {
        let scene = try await HelperScene()
        var environment = scene.environment
        environment["LATCHKEY_KEY_FILE"] = nil
        environment["LATCHKEY_VAULT"] = scene.directory / "other"
        try await PassphraseVault.make(
            "words of a passphrase".utf8, at: scene.directory / "other", in: environment)
        let terminal = try PseudoTerminal()
        let running = try Program(scene.directory / "bin/git-credential-latchkey").start(
            ["get"], environment: environment, terminal: terminal)
        running.send(Array("protocol=https\nhost=example.org\n\n".utf8))
        let run = try await running.finish()
        #expect(run.status == 77 && run.output.isEmpty)
        #expect(run.errorText.contains("vault unlock") && run.errorText.count { $0 == "\n" } == 1, "\(run.errorText)")
        #expect(!terminal.shown.contains("Passphrase"))
    }

    @Test func `a host that would have another place's name gets nothing, and nothing is kept for it`() async throws {
        let scene = try await HelperScene()
        try await scene.latchkey("set", "git:https://example.org/team", "ada", input: "of the team")
        try await scene.latchkey("set", "git:https://example.org", "ada", input: "of the host")
        for host in ["example.org/team", "example.org/", "bob@example.org", "example.org?x", "example.org:", "[::1"] {
            let request = "protocol=https\nhost=\(host)\n"
            let run = try await scene.helper("git-credential-latchkey", "get", input: request + "\n")
            #expect(run.status == 0 && run.output.isEmpty, "\(host)")
            _ = try await scene.helper(
                "git-credential-latchkey", "store", input: request + "username=eve\npassword=x\n\n")
        }
        #expect(try await !scene.latchkey("list").contains("eve"))
    }
}
