import Foundation
import Testing
import TestServices

/// `latchkey setup`: after it the real tool asks, and `--undo` leaves each file as it was.
@Suite struct SetupTests {
    private let scene: HelperScene
    private let judges = TestData.package
        .appendingPathComponent(".build/judges/python/bin").path

    init() async throws {
        scene = try await HelperScene()
    }

    private func setup(_ arguments: String..., status: Int32 = 0) async throws -> ProgramRun {
        let run = try await BuiltProducts.latchkey().run(["setup"] + arguments, environment: scene.environment)
        #expect(run.status == status, "\(arguments) \(run.errorText)")
        return run
    }

    /// What each tool's file was like, where it is, and what the tool itself says afterwards.
    static let tools: [(tool: String, file: String, before: String?, question: String, answer: String)] = [
        (
            "git", "home/.gitconfig", "[user]\n\tname = Ada\n",
            "printf 'protocol=https\\nhost=example.org\\n\\n' | GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0 git credential fill",
            "password=of git"
        ),
        ("git", "home/.gitconfig", nil, "git config --global --get-all credential.helper", "latchkey helper git"),
        (
            "docker", "home/.docker/config.json", "{\n\t\"auths\": {\n\t\t\"a.example\": {}\n\t}\n}",
            "skopeo --version >&2; python3 -c \"import json; print(json.load(open('home/.docker/config.json')))\"",
            "{'credsStore': 'latchkey', 'auths': {'a.example': {}}}"
        ),
        (
            "docker", "home/.docker/config.json", "{\"credsStore\": \"desktop\"}",
            "cat home/.docker/config.json", "{\"credsStore\": \"latchkey\"}"
        ),
        ("docker", "home/.docker/config.json", "{}", "cat home/.docker/config.json", "\"credsStore\": \"latchkey\"}"),
        (
            "docker", "home/.docker/config.json", nil,
            "python3 -c \"import json; print(json.load(open('home/.docker/config.json')))\"",
            "{'credsStore': 'latchkey'}"
        ),
        ("podman", podman, nil, "skopeo login --get-login registry.example", "ada"),
        (
            "podman", podman, "# mine\nunqualified-search-registries = [\"registry.example\"]\n",
            "podman login --get-login registry.example", "ada"
        ),
        (
            "cargo", "home/.cargo/config.toml", "[registry]\ndefault = \"own\"\n\n[net]\noffline = true\n",
            "cargo config get -Zunstable-options registry 2>&1; cat home/.cargo/config.toml",
            "[registry]\nglobal-credential-providers = [\"cargo:token\", \"cargo-credential-latchkey\"]\ndefault"
        ),
        ("cargo", "home/.cargo/config.toml", nil, "cargo login --help | head -n 1", "Log in to a registry."),
        (
            "pip", "config/pip/pip.conf", "[install]\nno-cache-dir = true\n",
            "\"$1/pip\" config get global.keyring-provider", "subprocess"
        ),
        (
            "uv", "config/uv/uv.toml", "offline = true\n[pip]\nstrict = true\n",
            "cat config/uv/uv.toml; cd tmp; \"$1/uv\" cache dir", "keyring-provider = \"subprocess\"\noffline"
        ),
        (
            "aws", "home/.aws/config", "[default]\nregion = eu-central-1",
            "\"$1/python\" -c 'import botocore.session; s = botocore.session.Session(); print(s.get_scoped_config()[\"region\"], s.get_credentials().get_frozen_credentials().secret_key)'",
            "eu-central-1 of aws"
        ),
        ("go", "config/go/env", "GOFLAGS=-v\n", "\"$1/go\" env GOAUTH GOFLAGS", "latchkey helper go; netrc\n-v"),
        (
            "go", "config/go/env", "GOAUTH=git /tmp\nGOFLAGS=-v\n", "\"$1/go\" env GOAUTH",
            "latchkey helper go; git /tmp"
        ),
    ]

    private static let podman = "home/.config/containers/registries.conf.d/latchkey.conf"

    @Test(arguments: SetupTests.tools.indices)
    func `a tool asks Latchkey after setup, and --undo restores its file`(_ index: Int) async throws {
        let (tool, file, before, question, answer) = Self.tools[index]
        for (service, account) in [
            ("git:https://example.org", "ada"), ("aws:default", "AKIAEXAMPLE"), ("docker:registry.example", "ada"),
        ] {
            try await scene.latchkey("set", service, account, input: "of \(service.prefix(3).filter { $0 != ":" })")
        }
        if let before {
            try scene.directory.makeFolder(String(file[..<file.lastIndex(of: "/")!]))
            try scene.directory.write(file, before, mode: 0o640)
        }
        let shown = try await setup(tool, "--print").outputText
        #expect(shown.contains("\n+ ") && shown.contains(scene.directory / file))
        #expect((try? scene.directory.read(file)) == before.map { Array($0.utf8) })

        let made = try await setup(tool, "--yes")
        #expect(made.outputText == shown || tool != "git" && shown.hasPrefix(made.outputText), "\(made.outputText)")
        if tool == "go" { try scene.stopTelemetryOfGo() }
        let asked = try await scene.shell(question, judges)
        #expect(asked.outputText.contains(answer), "\(asked.outputText)\(asked.errorText)")
        #expect(
            try await setup().outputText.split(separator: "\n").contains { $0.hasPrefix(tool) && $0.hasSuffix(" yes") })
        // Once is enough.
        let written = try scene.directory.read(file)
        #expect(
            try await setup(tool, "--yes").errorText == "latchkey: \(tool) already gets its credentials from Latchkey\n"
        )
        #expect(try scene.directory.read(file) == written)

        _ = try await setup(tool, "--undo", "--yes")
        #expect((try? scene.directory.read(file)) == before.map { Array($0.utf8) })
        if before != nil {
            let attributes = try FileManager.default.attributesOfItem(atPath: scene.directory / file)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
        }
        #expect(try await setup(tool, "--undo", status: 1).errorText.contains("[setup.not-done]"))
    }

    @Test func `kubectl writes its own file, and removes the user again`() async throws {
        var environment = scene.environment
        environment["PATH"] = (environment["PATH"] ?? "") + ":" + judges
        func run(_ arguments: String...) async throws -> ProgramRun {
            try await BuiltProducts.latchkey().run(["setup", "kubectl"] + arguments, environment: environment)
        }
        let made = try await run("work", "--yes")
        #expect(made.status == 0)
        #expect(
            made.errorText.hasPrefix(
                "latchkey: warning: unknown provider work\n"
                    + "latchkey: hint: add the provider: latchkey sign-in work --issuer URL --client-id ID\n"),
            "\(made.errorText)")
        // Before the question, not after the change.
        #expect(try await run("unknown").errorText.contains("unknown provider unknown\n"))
        let tools = try await BuiltProducts.latchkey().run(["setup"], environment: environment).outputText
        #expect(tools.contains("kubectl  yes\n"), "\(tools)")
        let user = try await scene.shell("\"$1/kubectl\" config view -o jsonpath='{.users[0].user.exec.args}'", judges)
        #expect(user.outputText == "[\"helper\",\"kubectl\",\"work\"]")
        #expect(try await run("other", "--id", "--yes").status == 0)
        let other = try await scene.shell("\"$1/kubectl\" config view -o jsonpath='{.users[0].user.exec.args}'", judges)
        #expect(other.outputText == "[\"helper\",\"kubectl\",\"other\",\"--id\"]")
        #expect(try await run("other", "--undo", "--yes").status == 0)
        #expect(try await setup("git", "--id", status: 64).errorText.contains("[setup.no-id-token]"))
        #expect(try await run("work").errorText == "latchkey: kubectl already gets its tokens from Latchkey\n")
        #expect(try await run("work", "--json").outputText.contains("\"change\": \"none\""))
        #expect(try await run("work", "--id", "--yes").errorText.contains("[setup.other]"))
        _ = try await scene.shell("\"$1/kubectl\" config set-context here --user=work", judges)
        let undone = try await run("work", "--undo", "--yes")
        #expect(
            undone.status == 0 && undone.errorText.contains("kubectl config set-context here --user=NAME"),
            "\(undone.errorText)")
        let gone = try await scene.shell("\"$1/kubectl\" config view -o jsonpath='{.users}'", judges)
        #expect(gone.outputText.isEmpty || gone.outputText == "null")
        let rest = try await BuiltProducts.latchkey().run(["setup"], environment: environment).outputText
        #expect(rest.contains("kubectl  no: latchkey setup kubectl PROVIDER\n"), "\(rest)")
        #expect(try await run().status == 64)
        _ = try await scene.shell("\"$1/kubectl\" config set-credentials mine --token=x", judges)
        #expect(try await run("mine", "--yes").errorText.contains("[setup.other]"))
        #expect(try await run("mine", "--undo", "--yes").errorText.contains("[setup.other]"))
    }

    /// Its token was kept beside our command, and lost at `--undo`.
    @Test(arguments: [
        "users:\n- user:\n    token: mine\n  name: work\n", "users:\n- name: \"work\"\n  user: {token: mine}\n",
        "users:\r\n- name: work\r\n  user:\r\n    token: mine\r\n",
        "{\"users\":[{\"name\":\"work\",\"user\":{\"token\":\"mine\"}}]}",
    ])
    func `a user that kubectl has, in any file and notation, is left alone`(_ text: String) async throws {
        try scene.directory.makeFolder("home/.kube")
        try scene.directory.write("home/.kube/config", text)
        var environment = scene.environment
        environment["PATH"] = (environment["PATH"] ?? "") + ":" + judges
        for files in [nil, "\(scene.directory / "new"):\(scene.directory / "home/.kube/config")"] {
            environment["KUBECONFIG"] = files
            for arguments in [["--yes"], ["--undo", "--yes"]] {
                let run = try await BuiltProducts.latchkey().run(
                    ["setup", "kubectl", "work"] + arguments, environment: environment)
                #expect(run.status == 77 && run.errorText.contains("[setup.other]"), "\(run.errorText)")
            }
        }
        #expect(try scene.directory.read("home/.kube/config") == Array(text.utf8))
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "new"))
    }

    /// `--undo` said that kubectl could not write the first file.
    @Test func `kubectl's user in a second file is named, and one of a wrapper's own file is left alone`() async throws
    {
        var environment = scene.environment
        environment["PATH"] = (environment["PATH"] ?? "") + ":" + judges
        let files = ["a", "b"].map { scene.directory / $0 }
        func run(_ words: String..., file: String) async throws -> ProgramRun {
            environment["KUBECONFIG"] = file
            return try await BuiltProducts.latchkey().run(
                ["setup", "kubectl", "work"] + words, environment: environment)
        }
        try await run("--yes", file: files[1]).successful("setup")
        for words in [["--yes"], ["--undo", "--yes"]] {
            let both = try await run(words[0], words.count > 1 ? "--yes" : "--json", file: files.joined(separator: ":"))
            #expect(both.status == 77 && both.errorText.contains("in another file than"), "\(both.errorText)")
        }
        try await run("--undo", "--yes", file: files[1]).successful("undo")
        // As microk8s has one.
        try scene.directory.makeFolder("wrapper")
        try scene.directory.write(
            "wrapper/kubectl", "#!/bin/sh\nexec \(judges)/kubectl --kubeconfig=\(files[0]) \"$@\"\n", mode: 0o700)
        try scene.directory.write("b", "users: [{name: work, user: {token: mine}}]")
        environment["PATH"] = scene.directory / "wrapper:" + (environment["PATH"] ?? "")
        #expect(try await run("--yes", file: files[1]).errorText.contains("with other settings"))
    }

    @Test func `a configuration that kubectl can't read is left alone`() async throws {
        try scene.directory.makeFolder("home/.kube")
        try scene.directory.write("home/.kube/config", "users: [")
        var environment = scene.environment
        environment["PATH"] = (environment["PATH"] ?? "") + ":" + judges
        let run = try await BuiltProducts.latchkey().run(
            ["setup", "kubectl", "work", "--yes"], environment: environment)
        #expect(run.status == 77 && run.errorText.contains("[setup.unusable]"), "\(run.errorText)")
    }

    @Test func `setup links a helper's name if the tool can't find it on PATH`() async throws {
        var environment = scene.environment
        environment["PATH"] = Program.searchPath
        let run = try await BuiltProducts.latchkey().run(["setup", "docker", "--yes"], environment: environment)
        #expect(run.status == 0 && run.errorText.contains("add ~/.local/bin to PATH"))
        let link = scene.directory / "home/.local/bin/docker-credential-latchkey"
        let version = try await Program(link).run(["version"], environment: environment)
        #expect(version.outputText.hasPrefix("docker-credential-latchkey (latchkey) "))
        try await BuiltProducts.latchkey().run(["setup", "docker", "--undo", "--yes"], environment: environment)
            .successful("setup --undo")
        #expect(!FileManager.default.fileExists(atPath: link))
    }

    @Test func `setup reports another keyring before ours on PATH, and writes nothing`() async throws {
        var environment = scene.environment
        try scene.directory.makeFolder("other")
        try scene.directory.write("other/keyring", "#!/bin/sh\n", mode: 0o755)
        environment["PATH"] = scene.directory / "other" + ":" + Program.searchPath
        let run = try await BuiltProducts.latchkey().run(["setup", "pip", "--yes"], environment: environment)
        #expect(run.status == 77 && run.errorText.contains("[setup.other-program]"))
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "config/pip/pip.conf"))
    }

    @Test func `pip and uv share the link until both are undone`() async throws {
        var environment = scene.environment
        environment["PATH"] = scene.directory / "home/.local/bin" + ":" + Program.searchPath
        func run(_ arguments: String...) async throws {
            try await BuiltProducts.latchkey().run(["setup"] + arguments + ["--yes"], environment: environment)
                .successful("setup")
        }
        let link = scene.directory / "home/.local/bin/keyring"
        try await run("pip")
        try await run("uv")
        try await run("pip", "--undo")
        #expect(FileManager.default.fileExists(atPath: link))
        try await run("uv", "--undo")
        #expect(!FileManager.default.fileExists(atPath: link))
    }

    @Test func `setup refuses a store for a tool that calls its helper without options`() async throws {
        for tool in ["docker", "podman", "cargo", "pip", "uv"] {
            let run = try await setup(tool, "--yes", "--store", "vault", status: 64)
            #expect(run.errorText.contains("[setup.no-store]"))
        }
    }

    @Test func `a named store goes into the helper's command`() async throws {
        _ = try await setup("git", "--yes", "--vault", scene.directory / "other/vault")
        #expect(
            String(decoding: try scene.directory.read("home/.gitconfig"), as: UTF8.self)
                .hasSuffix(" helper git --vault=\(scene.directory.path)/other/vault\n"))
    }

    @Test func `setup asks a person, and doesn't ask a script`() async throws {
        #expect(try await setup("git", status: 77).errorText.contains("[setup.not-asked]"))
        for (answer, status) in [("n", 77), ("y", 0)] as [(String, Int32)] {
            let terminal = try PseudoTerminal()
            let running = try BuiltProducts.latchkey().start(
                ["setup", "git"], environment: scene.environment, terminal: terminal, streamsOnTerminal: true)
            try await terminal.waitForQuestion("Write this?", from: running)
            terminal.type(answer + "\r")
            #expect(try await running.finish().status == status)
        }
        #expect(FileManager.default.fileExists(atPath: scene.directory / "home/.gitconfig"))
    }

    @Test func `--print with --undo shows the removals, and removes nothing`() async throws {
        _ = try await setup("git", "--yes")
        let written = try scene.directory.read("home/.gitconfig")
        let shown = try await setup("git", "--undo", "--print")
        #expect(shown.outputText.contains("\n- [credential]\n") && shown.errorText.isEmpty)
        #expect(try scene.directory.read("home/.gitconfig") == written)
        #expect(try await setup("git", "--undo", "--yes").outputText == shown.outputText)
    }

    @Test(arguments: ["--yes", "--undo", "--print"])
    func `an option for one tool is refused if no tool is named`(_ option: String) async throws {
        let run = try await setup(option, status: 64)
        #expect(run.output.isEmpty)
        #expect(
            run.errorText == "latchkey: error: \(option) needs TOOL [usage.missing-operand]\n"
                + "latchkey: hint: list the tools: latchkey setup\n")
    }

    @Test func `setup reports keys in a file that AWS reads first`() async throws {
        try scene.directory.makeFolder("home/.aws")
        try scene.directory.write("home/.aws/credentials", "[default]\naws_secret_access_key = s3cret\n")
        let run = try await setup("aws", "--yes")
        #expect(
            run.errorText.contains(
                "latchkey: warning: \(scene.directory.path)/home/.aws/credentials contains keys, which take precedence"
                    + " for their profiles\nlatchkey: hint: store the key with latchkey set aws:PROFILE KEY-ID, and remove"
                    + " the key from the file\n"), "\(run.errorText)")
        try scene.directory.write("home/.aws/credentials", "[default]\nregion = eu-central-1\n")
        #expect(
            try await setup("aws", "--yes").errorText == "latchkey: aws already gets its credentials from Latchkey\n")
    }

    @Test func `without a store, setup says that the tool finds nothing`() async throws {
        let scene = try await HelperScene(misses: true)
        for message in [
            "git now gets its credentials from Latchkey; to undo: latchkey setup git --undo",
            "git already gets its credentials from Latchkey",
        ] {
            let run = try await BuiltProducts.latchkey().run(["setup", "git", "--yes"], environment: scene.environment)
            #expect(
                run.status == 0
                    && run.errorText == """
                        latchkey: \(message)
                        latchkey: warning: no store exists yet, so git finds nothing
                        latchkey: hint: create a vault: latchkey vault init

                        """,
                "\(run.errorText)")
        }
        // Nothing was remembered on the way.
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "state/latchkey/store"))
    }

    @Test(arguments: [
        ("docker", "home/.docker/config.json", "no JSON"),
        ("cargo", "home/.cargo/config.toml", "[registry]\nglobal-credential-providers = [\"own\"]\n"),
        ("pip", "config/pip/pip.conf", "[global]\nkeyring-provider = import\n"),
        ("uv", "config/uv/uv.toml", "keyring-provider = \"disabled\"\n"),
        ("aws", "home/.aws/config", "[default]\ncredential_process=own\n"),
        ("podman", podman, "credential-helpers = [\"own\"]\n"),
    ])
    func `setup reports an obstacle, and leaves it alone`(_ tool: String, _ file: String, _ text: String) async throws {
        try scene.directory.makeFolder(String(file[..<file.lastIndex(of: "/")!]))
        try scene.directory.write(file, text)
        let refused = try await setup(tool, "--yes", status: 77)
        #expect(refused.errorText.contains("[setup.other]"))
        // What the hint says of --print is so.
        #expect(refused.errorText.contains("change it yourself; see what it needs: latchkey setup \(tool) --print"))
        let shown = try await setup(tool, "--print")
        #expect(shown.outputText.contains("\n+ ") && shown.outputText.contains("latchkey"), "\(shown.outputText)")
        #expect(shown.errorText.contains("hint: replace the other value with this line"), "\(shown.errorText)")
        #expect(try scene.directory.read(file) == Array(text.utf8))
    }

    @Test func `setup changes cargo's configuration under its older name, which cargo reads first`()
        async throws
    {
        try scene.directory.makeFolder("home/.cargo")
        try scene.directory.write("home/.cargo/config", "[net]\noffline = true\n")
        _ = try await setup("cargo", "--yes")
        let text = String(decoding: try scene.directory.read("home/.cargo/config"), as: UTF8.self)
        #expect(text.contains("cargo-credential-latchkey"))
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "home/.cargo/config.toml"))
    }

    @Test func `setup without a tool lists files with plain-text secrets, and nothing if there are none`() async throws
    {
        let secret = "gho_" + String(repeating: "a", count: 36)
        for (file, text) in [
            ("home/.git-credentials", "https://ada:x@example.org\n"), ("home/.netrc", "machine a login b password c\n"),
            ("home/.docker/config.json", "{\"auths\":{\"a\":{\"auth\":\"YTpi\"}}}"),
            ("home/.cargo/credentials.toml", "[registry]\ntoken = \"x\"\n"),
            ("config/gh/hosts.yml", "github.com:\n    oauth_token: \(secret)\n"),
            ("home/.pgpass", "db.example:5432:*:ada:s3cret\n"),
            ("config/pip/pip.conf", "[global]\nindex-url = https://ada:s3cret@index.example/simple\n"),
            ("config/git/credentials", "https://example.org\n# https://ada@example.org:8080/a:b@c\n"),
            ("home/.pypirc", "[pypi]\nusername=a\n"), ("home/.npmrc", "//registry.example/:_authToken=${NPM_TOKEN}\n"),
        ] {
            try scene.directory.makeFolder(String(file[..<file.lastIndex(of: "/")!]))
            try scene.directory.write(file, text)
        }
        let shown = try await setup().outputText
        for name in [
            ".git-credentials", ".netrc", ".docker/config.json", ".cargo/credentials.toml", "gh/hosts.yml", ".pgpass",
            "pip.conf",
        ] {
            #expect(shown.contains(name), "\(name)")
        }
        #expect(
            !shown.contains("git/credentials") && !shown.contains(".pypirc") && !shown.contains(".npmrc")
                && !shown.contains(secret))
        let json = try await setup("--json").output
        let object = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
        #expect((object?["plain_text"] as? [[String: Any]])?.count == 7)
        #expect((object?["tools"] as? [[String: Any]])?.count == 9)
    }
}
