import Foundation
import Testing
import TestServices

/// pip and uv ask `keyring`, as Python keyring's command is.
@Suite struct KeyringHelperTests {
    private static let python = TestData.package
        .appendingPathComponent(".build/judges/python/bin").path

    /// An index with one package of no files.
    private func index(_ scene: HelperScene) async throws -> FixtureServer {
        try scene.directory.makeFolder("index/simple/empty-package")
        try await scene.shell(
            """
            cd index && cat > make.py <<'END'
            import zipfile
            with zipfile.ZipFile("simple/empty-package/empty_package-1.0-py3-none-any.whl", "w") as wheel:
                wheel.writestr("empty_package-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: empty-package\\nVersion: 1.0\\n")
                wheel.writestr("empty_package-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
                wheel.writestr("empty_package-1.0.dist-info/RECORD", "")
            END
            python3 make.py
            """
        ).successful("the wheel")
        return try await FixtureServer("basic_server.py", scene.directory / "index", "ada", "s3cret")
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `pip and uv install from an index with a password`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let server = try await index(scene)
        try await scene.helper("keyring", "set", "http://\(server.host)/simple", "ada", input: "s3cret\n")
            .successful("keyring set")
        let pip = try await scene.shell(
            """
            export PIP_CONFIG_FILE=/dev/null PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
            "$2/pip" download --keyring-provider subprocess --no-deps --dest got \
                --index-url "http://ada@$1/simple/" empty-package
            """, server.host, Self.python)
        #expect(pip.status == 0, "\(pip.errorText)\(pip.outputText)")
        let uv = try await scene.shell(
            """
            export UV_CACHE_DIR=$PWD/uv-cache UV_NO_CONFIG=1
            "$2/uv" pip install --keyring-provider subprocess --target target --no-deps \
                --index-url "http://ada@$1/simple/" empty-package < /dev/null
            """, server.host, Self.python)
        #expect(uv.status == 0, "\(uv.errorText)")
        #expect(server.requests.contains { $0.hasPrefix("let in /simple/empty-package/") })
    }

    private func keyring(
        _ scene: HelperScene, _ arguments: String..., input: String = ""
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["helper", "keyring"] + arguments, environment: scene.environment, input: Array(input.utf8))
    }

    /// It was shown as it was typed, and Return didn't end it.
    @Test func `set asks for the password at a terminal, without showing it`() async throws {
        let scene = try await HelperScene()
        let terminal = try PseudoTerminal()
        let running = try Program("/bin/sh").start(
            ["-c", "exec '\(scene.directory / "bin/keyring")' set https://pypi.example.org ada < /dev/tty"],
            environment: scene.environment, terminal: terminal)
        try await terminal.waitForQuestion("Password for https://pypi.example.org/ada", from: running)
        terminal.type("typed password\r")
        let run = try await running.finish()
        #expect(run.status == 0 && !terminal.shown.contains("typed password"), "\(run.errorText)")
        #expect(try await scene.latchkey("get", "https://pypi.example.org", "ada") == "typed password")
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `the longest address wins, in each form of the response`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        for (service, secret) in [
            ("https://index.example/simple", "of the index"), ("https://index.example/simple/own/", "of the package"),
            ("index.example:8443", "of the host"), ("127.0.0.1:8080", "of this machine"),
            ("http://clear.example/simple", "in clear"),
        ] {
            try await scene.helper("keyring", "set", service, "ada", input: secret).successful("keyring set")
        }
        for (asked, secret) in [
            ("https://index.example/simple/", "of the index"), ("https://index.example/simple/other/", "of the index"),
            ("https://index.example/simple/own", "of the package"),
            ("https://ada@index.example/simple/own/x.whl", "of the package"),
            ("https://index.example:8443/simple/", "of the host"), ("index.example:8443", "of the host"),
            ("http://127.0.0.1:8080/simple/", "of this machine"), ("http://clear.example/simple/x", "in clear"),
        ] {
            let plain = try await keyring(scene, "get", asked, "ada")
            #expect(plain.status == 0 && plain.outputText == secret + "\n", "\(asked)")
            let login = try await keyring(scene, "get", "--mode", "creds", asked)
            #expect(login.outputText == "ada\n\(secret)\n", "\(asked)")
            let json = try await keyring(scene, "--mode=creds", "--output=json", "get", asked)
            #expect(json.outputText == "{\"username\":\"ada\",\"password\":\"\(secret)\"}\n", "\(asked)")
        }
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `the helper prints nothing if it finds nothing`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        try await scene.helper("keyring", "set", "https://index.example/simple", "ada", input: "x")
            .successful("keyring set")
        for arguments in [
            ["get", "https://index.example/simple", "bob"], ["get", "https://index.example.evil/simple", "ada"],
            ["get", "https://index.example/simpleton", "ada"], ["get", "http://index.example/simple", "ada"],
            ["get", "--mode", "creds", "https://other.example/"], ["del", "https://index.example/simple", "bob"],
            ["get", "line\nbreak", "ada"],
        ] {
            let run = try await BuiltProducts.latchkey().run(
                ["helper", "keyring"] + arguments, environment: scene.environment)
            #expect(run.status == 1 && run.output.isEmpty && run.errorOutput.isEmpty, "\(arguments) \(run.errorText)")
        }
    }

    @Test(arguments: HelperScene.Store.allCases)
    func `a password stored for HTTPS, or for a host, never goes to an address in plain text`(
        _ store: HelperScene.Store
    ) async throws {
        let scene = try await HelperScene(store)
        for service in ["index.example", "index.example:8443", "https://index.example/simple", "localhost.example"] {
            try await scene.helper("keyring", "set", service, "ada", input: "s3cret").successful("keyring set")
        }
        for address in [
            "http://index.example/simple/", "http://index.example", "HTTP://index.example/simple",
            "http://ada@index.example/simple/x", "http://index.example:8443/simple/", "http://localhost.example/",
            "http://localhost:x@index.example/", "ftp://index.example/simple", "ws://index.example:8443/",
            "HTTPSX://index.example/", "git+ssh://index.example/simple/x",
        ] {
            for words in [["get", address, "ada"], ["get", "--mode", "creds", address]] {
                let run = try await BuiltProducts.latchkey().run(
                    ["helper", "keyring"] + words, environment: scene.environment)
                #expect(run.status == 1 && run.output.isEmpty && run.errorOutput.isEmpty, "\(words)")
            }
        }
        for address in ["https://index.example/other", "HTTPS://Index.EXAMPLE/simple/x", "ftp://LOCALHOST/x"] {
            if address.hasPrefix("ftp") {
                try await scene.helper("keyring", "set", "localhost", "ada", input: "s3cret").successful("keyring set")
            }
            #expect(try await keyring(scene, "get", address, "ada").outputText == "s3cret\n", "\(address)")
        }
    }

    @Test func `Python keyring and the helper read each other's passwords`() async throws {
        let scene = try await HelperScene(.secretService)
        let desktop = try #require(scene.desktop)
        let python = PythonKeyring(.secretService, on: desktop)
        try await python.set("https://index.example/simple", "ada", "from Python")
        #expect(try await keyring(scene, "get", "https://index.example/simple", "ada").outputText == "from Python\n")
        try await scene.helper("keyring", "set", "other", "bob", input: "from here\n").successful("keyring set")
        #expect(try await python.get("other", "bob") == "from here")
        #expect(try await keyring(scene, "del", "other", "bob").status == 0)
        #expect(try await python.get("other", "bob") == nil)
    }

    /// A program that failed has passed on nothing.
    @Test(arguments: ["", "\n"]) func `an empty secret doesn't take the place of the stored one`(input: String)
        async throws
    {
        let scene = try await HelperScene()
        #expect(try await keyring(scene, "set", "https://index.example/", "ada", input: "good").status == 0)
        let run = try await keyring(scene, "set", "https://index.example/", "ada", input: input)
        #expect(run.status == 1 && run.errorText.contains("the secret is empty"), "\(run.errorText)")
        #expect(try await keyring(scene, "get", "https://index.example/", "ada").outputText == "good\n")
    }

    @Test func `a store's refusal is one line, with status 1`() async throws {
        let scene = try await HelperScene(misses: true)
        let run = try await keyring(scene, "get", "https://index.example/", "ada")
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(
            run.errorText.hasPrefix("latchkey: no vault at \(scene.directory.path)/nowhere; ")
                && run.errorText.count { $0 == "\n" } == 1
        )
    }

    @Test func `an address that only seems to have the host gets nothing`() async throws {
        let scene = try await HelperScene()
        try await scene.latchkey("set", "good.example", "ada", input: "of the host")
        for address in [
            "https://evil.example?@good.example/", "https://evil.example#@good.example/",
            "https://evil.example\\@good.example/",
            "https://good.example\\.evil.example/", "evil.example/://good.example/",
        ] {
            let run = try await scene.helper("keyring", "get", address, "ada")
            #expect(run.status == 1 && run.output.isEmpty, "\(address)")
        }
        #expect(
            try await scene.helper("keyring", "get", "https://x@good.example/", "ada").outputText == "of the host\n")
    }
}
