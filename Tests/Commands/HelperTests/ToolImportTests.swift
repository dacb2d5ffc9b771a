import Foundation
import Testing
import TestServices

/// `latchkey import` from what docker's, cargo's and git's own programs wrote, after which they ask Latchkey for it.
@Suite struct ToolImportTests {
    private func latchkey(_ scene: HelperScene, _ arguments: String...) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: scene.environment)
    }

    private func text(_ scene: HelperScene, _ file: String) throws -> String {
        String(decoding: try scene.directory.read(file), as: UTF8.self)
    }

    // MARK: - docker and podman

    @Test(arguments: HelperScene.Store.allCases)
    func `skopeo's file is emptied, and skopeo finds its login in the store`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let port = try LoopbackPort.free()
        let registry = try await DockerHelperTests.registry(scene, port)
        defer { registry.signal(SIGTERM) }
        let server = "127.0.0.1:\(port)"
        let login = try await scene.shell(
            """
            printf s3cret | skopeo login --tls-verify=false --authfile auth.json --username ada --password-stdin $1
            grep -c '"auth":' auth.json
            """, server)
        #expect(login.status == 0 && login.outputText.hasSuffix("1\n"), "\(login.errorText)")
        let plan = try await latchkey(
            scene, "import", "--from", "docker", scene.directory / "auth.json", "--empty-source", "--dry-run")
        #expect(plan.status == 0 && plan.errorText.contains("auth.json would contain no secret then"))
        #expect(try text(scene, "auth.json").contains("\"auth\":"))
        let run = try await latchkey(
            scene, "import", "--from", "docker", scene.directory / "auth.json", "--empty-source")
        #expect(run.status == 0 && run.errorText.contains("auth.json no longer contains a secret"), "\(run.errorText)")
        #expect(try text(scene, "auth.json") == "{\n\t\"auths\": {\n\t\t\"\(server)\": {}\n\t}\n}")
        let after = try await scene.shell(
            """
            sed -i 's/"auths"/"credHelpers": {"'$1'": "latchkey"}, "auths"/' auth.json
            skopeo login --authfile auth.json --get-login $1
            """, server)
        #expect(after.outputText == "ada\n", "\(after.errorText)")
    }

    @Test func `items of docker-credential-secretservice are imported together with the file`() async throws {
        let scene = try await HelperScene(.secretService)
        try scene.directory.makeFolder("home/.docker")
        try scene.directory.write(
            "home/.docker/config.json",
            "{\"auths\":{\"file.example\":{\"auth\":\"YWRhOmZpbGU=\"}},\"credsStore\":\"x\"}")
        let stored = try await Program("docker-credential-secretservice").run(
            ["store"], environment: scene.environment,
            input: Array(#"{"ServerURL":"ring.example","Username":"ada","Secret":"of theirs"}"#.utf8))
        #expect(stored.status == 0)
        let run = try await latchkey(scene, "import", "--from", "docker", "--empty-source")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(try await scene.latchkey("get", "docker:ring.example", "ada") == "of theirs")
        #expect(try await scene.latchkey("get", "docker:file.example", "ada") == "file")
        #expect(try text(scene, "home/.docker/config.json") == "{\"auths\":{\"file.example\":{}},\"credsStore\":\"x\"}")
        // Their item is theirs.
        let kept = try await Program("docker-credential-secretservice").run(
            ["get"], environment: scene.environment, input: Array("ring.example".utf8))
        #expect(kept.outputText.contains("of theirs"))
        // A file that disagrees with the keyring is told, and keeps what is nowhere else.
        let other = "{\"auths\":{\"ring.example\":{\"auth\":\"YWRhOm90aGVy\"}}}"
        try scene.directory.write("home/.docker/config.json", other)
        let refused = try await latchkey(scene, "import", "--from", "docker", "--replace", "--empty-source")
        #expect(
            refused.status == 77 && refused.errorText.contains("docker:ring.example in the keyring"),
            "\(refused.errorText)")
        #expect(try text(scene, "home/.docker/config.json") == other)
    }

    // MARK: - cargo

    @Test(arguments: HelperScene.Store.allCases)
    func `cargo's file is emptied, and cargo finds its token in the store`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let server = try await FixtureServer("cargo_registry.py", "a token")
        let before = try await scene.shell(
            """
            set -e
            mkdir -p home/.cargo && cd home
            printf '[registries.own]\\nindex = "sparse+http://%s/"\\n' "$1" > .cargo/config.toml
            export CARGO_REGISTRIES_OWN_CREDENTIAL_PROVIDER=cargo:token
            printf '[registry]\\ntoken = "of crates.io"\\n' > .cargo/credentials.toml
            printf 'a token' | cargo login --registry own
            grep -c 'token = ' .cargo/credentials.toml
            """, server.host)
        #expect(before.status == 0 && before.outputText.hasSuffix("2\n"), "\(before.errorText)")
        let run = try await latchkey(scene, "import", "--from", "cargo", "--empty-source")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(try !text(scene, "home/.cargo/credentials.toml").contains("token"))
        let after = try await scene.shell(
            """
            cd home
            export CARGO_REGISTRIES_OWN_CREDENTIAL_PROVIDER=cargo-credential-latchkey
            cargo owner --registry own --list crate
            latchkey list | grep -c cargo:
            CARGO_REGISTRY_CREDENTIAL_PROVIDER=cargo-credential-latchkey cargo logout
            latchkey list | grep -c cargo:
            """)
        #expect(after.outputText.contains("ada (Ada)") && after.outputText.hasSuffix("2\n1\n"), "\(after.errorText)")
    }

    @Test func `items of cargo's libsecret provider are imported`() async throws {
        let scene = try await HelperScene(.secretService)
        let server = try await FixtureServer("cargo_registry.py", "theirs")
        let login = try await scene.shell(
            """
            mkdir -p home/.cargo && cd home
            printf '[registries.own]\\nindex = "sparse+http://%s/"\\n' "$1" > .cargo/config.toml
            printf theirs | CARGO_REGISTRIES_OWN_CREDENTIAL_PROVIDER=cargo:libsecret cargo login --registry own
            """, server.host)
        #expect(login.status == 0, "\(login.errorText)")
        #expect(try await latchkey(scene, "import", "--from", "cargo").status == 0)
        #expect(try await scene.latchkey("get", "cargo:sparse+http://\(server.host)/", "token") == "theirs")
    }

    // MARK: - git

    @Test func `git's file is emptied, and git finds its password in the store`() async throws {
        let scene = try await HelperScene()
        let file = scene.directory / "home/.git-credentials"
        let stored = try await scene.shell(
            """
            printf 'protocol=https\\nhost=example.org\\nusername=ada\\npassword=s3cret\\n\\n' | git credential-store store
            """)
        #expect(stored.status == 0 && FileManager.default.fileExists(atPath: file))
        let run = try await latchkey(scene, "import", "--from", "git", "--empty-source")
        #expect(run.status == 0)
        #expect(run.errorText.contains("no longer contains a secret that an import finds; the disk may"))
        #expect(try scene.directory.read("home/.git-credentials").isEmpty)
        let asked = try await scene.shell(
            """
            printf 'protocol=https\\nhost=example.org\\n\\n' |
                GIT_TERMINAL_PROMPT=0 git -c credential.helper= -c credential.helper=store -c credential.helper=latchkey credential fill
            """)
        #expect(asked.outputText.contains("password=s3cret\n"), "\(asked.errorText)")
        // Nothing is in it now.
        #expect(try await latchkey(scene, "import", "--from", "git", "--empty-source").status == 1)
    }

    @Test func `a file whose remaining entries exist nowhere else is left unchanged`() async throws {
        let scene = try await HelperScene()
        let lines = "https://ada:one@example.org\nhttps://nobody@example.org\n"
        try scene.directory.write("home/.git-credentials", lines)
        let skipped = try await latchkey(scene, "import", "--from", "git", "--empty-source")
        #expect(skipped.status == 77 && skipped.errorText.contains("[import.not-emptied]"), "\(skipped.errorText)")
        #expect(skipped.errorText.contains("entry: line 2, which isn't a URL with user and password\n"))
        #expect(try text(scene, "home/.git-credentials") == lines)
        // What was imported stays so, and another secret in the store is no reason to lose this one.
        #expect(try await scene.latchkey("get", "git:https://example.org", "ada") == "one")
        try scene.directory.write("home/.git-credentials", "https://ada:two@example.org\n")
        let differs = try await latchkey(scene, "import", "--from", "git", "--empty-source")
        #expect(differs.status == 73 && differs.errorText.contains(".git-credentials is unchanged\n"))
        #expect(try text(scene, "home/.git-credentials") == "https://ada:two@example.org\n")
        try await latchkey(scene, "import", "--from", "git", "--empty-source", "--replace").successful("--replace")
        #expect(try await scene.latchkey("get", "git:https://example.org", "ada") == "two")
        #expect(try scene.directory.read("home/.git-credentials").isEmpty)
    }

    @Test func `Git Credential Manager's items and files are imported, and the files are deleted`() async throws {
        let scene = try await HelperScene(.secretService)
        try await scene.desktop?.createItem(
            "git:https://github.com",
            ["xdg:schema": "com.microsoft.GitCredentialManager", "service": "git:https://github.com", "account": "u"],
            "manager's")
        let folder = try scene.directory.makeFolder("home/.gcm/store/git/https/example.org")
        try scene.directory.write(
            "home/.gcm/store/git/https/example.org/ada.credential", "s3cret\nservice=https://example.org\naccount=ada\n"
        )
        let run = try await latchkey(scene, "import", "--from", "gcm", "--empty-source")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(try await scene.latchkey("get", "git:https://github.com", "u") == "manager's")
        #expect(try await scene.latchkey("get", "git:https://example.org", "ada") == "s3cret")
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    // MARK: - What is refused

    @Test func `a source that keeps its file, or has none, isn't emptied`() async throws {
        let scene = try await HelperScene()
        for source in ["gh", "python-keyring", "libsecret-file", "gnome-keyring-collection"] {
            let run = try await latchkey(scene, "import", "--from", source, "--empty-source")
            #expect(run.status == 64 && run.errorText.contains("--empty-source is not for \(source)"))
        }
        for source in ["git", "gcm", "docker", "cargo"] {
            let run = try await latchkey(scene, "import", "--from", source, scene.directory / "none", "--empty-source")
            #expect(run.status == 69 && run.errorText.contains("[import.unreadable]"), "\(run.errorText)")
        }
        for source in ["docker", "cargo", "gcm"] {
            let run = try await latchkey(scene, "import", "--from", source, "--empty-source")
            #expect(run.status == 1 && run.errorText.contains("nothing to import"), "\(run.errorText)")
        }
    }

    @Test func `a locked keyring is reported without a prompt, and the file stays`() async throws {
        let scene = try await HelperScene(.secretService)
        let desktop = try #require(scene.desktop)
        let stored = try await Program("docker-credential-secretservice").run(
            ["store"], environment: scene.environment,
            input: Array(#"{"ServerURL":"ring.example","Username":"ada","Secret":"of theirs"}"#.utf8))
        #expect(stored.status == 0)
        try await desktop.lock()
        let text = "{\"auths\":{\"file.example\":{\"auth\":\"YWRhOm9mIHRoZSBmaWxl\"}}}"
        try scene.directory.makeFolder("home/.docker")
        let file = try scene.directory.write("home/.docker/config.json", text)
        let run = try await latchkey(scene, "import", "--from", "docker", "--empty-source", "--no-prompt")
        #expect(run.status == 77 && run.errorText.contains("[store.locked]"), "\(run.errorText)")
        #expect(try self.text(scene, "home/.docker/config.json") == text)
        // The file that is named is meant alone, and goes into a store that is open.
        var environment = scene.environment
        environment["LATCHKEY_STORE"] = "vault"
        environment["LATCHKEY_KEY_FILE"] = scene.directory / "key"
        for arguments in [
            ["vault", "init", "--key-file", scene.directory / "key"], ["import", "--from", "docker", file],
        ] {
            try await BuiltProducts.latchkey().run(arguments, environment: environment)
                .successful(arguments.joined(separator: " "))
        }
    }

    @Test func `pipes, folders and files past 16 MiB are refused without waiting`() async throws {
        let scene = try await HelperScene()
        try scene.directory.makeFolder("folder")
        let large = try await scene.shell("mkfifo pipe && truncate -s 16777217 large")
        #expect(large.status == 0)
        for source in ["git", "docker", "cargo"] {
            for (file, code) in [("pipe", "unreadable"), ("folder", "unreadable"), ("large", "malformed")] {
                let run = try await latchkey(
                    scene, "import", "--from", source, scene.directory / file, "--empty-source")
                #expect(run.errorText.contains("[import.\(code)]"), "\(source) \(file): \(run.errorText)")
            }
        }
    }

    @Test func `a full disk leaves the file unchanged`() async throws {
        let scene = try await HelperScene()
        let text = "{\"auths\":{\"a\":{\"auth\":\"YTpi\"}},\"rest\":\"\(String(repeating: "x", count: 9000))\"}"
        let file = try scene.directory.write("config.json", text)
        try await latchkey(scene, "import", "--from", "docker", file).successful("import")
        let run = try await scene.shell(
            "trap '' XFSZ; ulimit -f 4; latchkey import --from docker config.json --empty-source")
        #expect(run.status == 73 && run.errorText.contains("is unchanged: can't write the file: file too large"))
        #expect(try self.text(scene, "config.json") == text)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: scene.directory.path).filter { $0.contains(".new-") }
                == [])
    }

    /// `emptied_files.py` writes the files, of each of the ten sources, and knows what it wrote. It found logins, accounts,
    /// macros, comments and second passwords that were in no store and were deleted.
    @Test(arguments: 1...3)
    func `every secret of random files of each source is in the store or in the file`(_ seed: Int) async throws {
        let scene = try await HelperScene()
        let run = try await Program("/usr/bin/python3").run(
            [
                HelperScene.fixture("emptied_files.py"), BuiltProducts.latchkey().path,
                try scene.directory.makeFolder("files"), "\(seed)", "12",
            ], environment: scene.environment)
        #expect(run.status == 0, "\(run.errorText)")
        let counts = run.outputText.split(separator: "\n")
        #expect(counts.count == 10)
        #expect(counts.prefix(6).count { !$0.contains(" 0 emptied") } >= 4, "too few files were emptied: \(counts)")
    }

    /// strace kills it at each call that makes something last: until the store has the secret, the file has it.
    @Test func `a kill at any step leaves the secret in the file or in the store`() async throws {
        let scene = try await HelperScene()
        let line = "https://ada:of-the-file@example.org\n"
        var kills = 0
        var emptied = 0
        for call in ["rename", "fsync", "fdatasync", "unlink"] {
            for step in 1...40 {
                try scene.directory.write("home/.git-credentials", line)
                _ = try await latchkey(scene, "delete", "git:https://example.org", "ada")
                let run = try await scene.shell(
                    """
                    strace -f -qq -o /dev/null -e trace=\(call) -e inject=\(call):signal=KILL:when=\(step) \
                        latchkey import --from git --empty-source
                    """)
                let text = try text(scene, "home/.git-credentials")
                let kept = try await latchkey(scene, "get", "git:https://example.org", "ada")
                #expect(text == line || text.isEmpty, "\(call) \(step)")
                #expect(text == line || kept.outputText == "of-the-file", "\(call) \(step)")
                if text.isEmpty { emptied += 1 }
                if run.status == 0 { break }
                kills += 1
            }
        }
        #expect(kills >= 3 && emptied >= 3, "strace killed it \(kills) times, \(emptied) ended empty")
        #expect(try await latchkey(scene, "vault", "verify").status == 0)
    }

    // MARK: - What setup says

    /// Each command that is shown is run by a shell as it is shown; files that imports empty are shown no more.
    @Test func `the commands that setup shows work on the files that it shows`() async throws {
        let scene = try await HelperScene()
        let home = try scene.directory.makeFolder("ho me's")
        let extra = [
            "HOME": home, "XDG_CONFIG_HOME": home + "/.config", "REGISTRY_AUTH_FILE": home + "/other auth.json",
        ]
        let credential = "s3cret\nservice=https://gcm.example\naccount=ada\n"
        for (file, text) in [
            (".git-credentials", "https://ada:x@one.example\n"),
            (".config/git/credentials", "https://ada:x@two.example\n"),
            (".docker/config.json", "{\"auths\":{\"one\":{\"auth\":\"YTpi\"}}}"),
            (".config/containers/auth.json", "{\"auths\":{\"two\":{\"auth\":\"YTpi\"}}}"),
            ("other auth.json", "{\"auths\":{\"three\":{\"identitytoken\":\"t\"}}}"),
            (".cargo/credentials.toml", "[registry]\ntoken = \"x\"\n"),
            (".config/gh/hosts.yml", "github.com:\n    user: ada\n    oauth_token: gho_x\n"),
            (".gcm/store/git/https/gcm.example/ada.credential", credential),
            (".netrc", "machine netrc.example login ada password x\n"),
            (".pypirc", "[pypi]\nusername = __token__\npassword = x\n"),
        ] {
            let folder = "\(home)/\(file)".split(separator: "/").dropLast().joined(separator: "/")
            try FileManager.default.createDirectory(atPath: "/" + folder, withIntermediateDirectories: true)
            try scene.directory.write("ho me's/" + file, text)
        }
        func shell(_ script: String) async throws -> ProgramRun {
            try await Program("bash").run(["-c", script], environment: scene.environment.merging(extra) { $1 })
        }
        func listed() async throws -> [[String: String]] {
            let output = try await shell("latchkey setup --json").successful("setup").output
            let object = try JSONSerialization.jsonObject(with: Data(output)) as? [String: Any]
            return object?["plain_text"] as? [[String: String]] ?? []
        }
        // What a tool has in its file is taken out when it asks for it elsewhere.
        let before = try await listed().compactMap { $0["command"] }
        #expect(before.count == 10 && before.filter { $0.hasPrefix("latchkey setup ") }.count == 7, "\(before)")
        #expect(before.contains("latchkey setup git && latchkey import --from git --empty-source"))
        for tool in ["git", "docker", "podman", "cargo"] {
            _ = try await shell("latchkey setup \(tool) --yes").successful(tool)
        }
        let files = try await listed()
        #expect(files.count == 10, "\(files)")
        for entry in files {
            let command = entry["command"] ?? ""
            let run = try await shell(command)
            #expect(run.status == 0, "\(command): \(run.errorText)")
        }
        // gh and curl need their files.
        #expect(
            try await listed().map { $0["command"] } == ["latchkey import --from gh", "latchkey import --from netrc"])
        let names = try await scene.latchkey("list", "--json")
        for service in [
            "git:https://one.example", "git:https://two.example", "docker:one", "docker:two", "docker:three",
            "cargo:https://github.com/rust-lang/crates.io-index", "gh:github.com", "git:https://gcm.example",
            "git:https://netrc.example", "https://upload.pypi.org/legacy/",
        ] {
            #expect(names.contains("\"\(service)\""), "\(service)")
        }
    }
}
