import Foundation
import Testing
import TestServices

/// `latchkey setup` with files as editors, tools and other people leave them: what was there stays.
@Suite struct SetupFileTests: SetupSuite {
    let directory: TestDirectory
    let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try Self.environment(in: directory)
    }

    static let files = [
        "git": "home/.gitconfig", "docker": "home/.docker/config.json",
        "podman": "home/.config/containers/registries.conf.d/latchkey.conf", "cargo": "home/.cargo/config.toml",
        "pip": "config/pip/pip.conf", "uv": "config/uv/uv.toml", "aws": "home/.aws/config", "go": "config/go/env",
    ]

    /// --undo showed and named the file of the day, and changed the other.
    @Test func `--undo names the file that it changes`() async throws {
        for folder in ["d1", "d2"] { try write("\(folder)/config.json", Array(#"{"credsStore":"desktop"}"#.utf8)) }
        let other = ["DOCKER_CONFIG": directory / "d1"]
        #expect(try await setup("docker", "--yes", with: other).status == 0)
        let undone = try await setup("docker", "--undo", "--yes", "--json", with: ["DOCKER_CONFIG": directory / "d2"])
        #expect(undone.status == 0 && undone.outputText.contains("d1/config.json"), "\(undone.outputText)")
        for folder in ["d1", "d2"] {
            let text = String(decoding: try directory.read("\(folder)/config.json"), as: UTF8.self)
            #expect(text == #"{"credsStore":"desktop"}"#)
        }
    }

    /// Its record was the first one's no more, which could never be taken back.
    @Test func `a second file is refused while the first is set up`() async throws {
        for folder in ["d1", "d2"] { try write("\(folder)/config.json", Array(#"{"credsStore":"desktop"}"#.utf8)) }
        let (first, second) = (["DOCKER_CONFIG": directory / "d1"], ["DOCKER_CONFIG": directory / "d2"])
        #expect(try await setup("docker", "--yes", with: first).status == 0)
        let refused = try await setup("docker", "--yes", with: second)
        #expect(refused.status == 77 && refused.errorText.contains("d1/config.json"), "\(refused.errorText)")
        #expect(try await setup("docker", "--undo", "--yes", with: second).status == 0)
        #expect(try await setup("docker", "--yes", with: second).status == 0)
    }

    @Test func `a helper of git for one host alone isn't one for all`() async throws {
        let line = "helper = \(try BuiltProducts.latchkey().path) helper git"
        try write("home/.gitconfig", Array("[credential \"https://gitlab.example\"]\n\t\(line)\n".utf8))
        #expect(try await setup().outputText.contains("no: latchkey setup git"))
        let made = try await setup("git", "--yes")
        #expect(made.errorText.contains("git now gets"), "\(made.errorText)")
        let again = try await setup("git", "--yes")
        #expect(again.errorText.contains("git already gets") && again.status == 0)
    }

    @Test func `docker's credsStore is replaced, whatever else has its value, and not in another spelling`()
        async throws
    {
        try write("home/.docker/config.json", Array(#"{"HttpHeaders":{"a":"desktop"},"credsStore":"desktop"}"#.utf8))
        #expect(try await setup("docker", "--yes").status == 0)
        let text = String(decoding: try directory.read("home/.docker/config.json"), as: UTF8.self)
        #expect(text == #"{"HttpHeaders":{"a":"desktop"},"credsStore":"latchkey"}"#)
        #expect(try await setup("docker", "--undo", "--yes").status == 0)
        try write("home/.docker/config.json", Array(#"{"CredsStore":"desktop"}"#.utf8))
        let refused = try await setup("docker", "--yes")
        #expect(refused.status == 77 && refused.errorText.contains("another spelling"))
    }

    /// The tool then refused its whole file, and setup said that the tool uses Latchkey.
    @Test(arguments: [
        ("git", "[user]\n\tname = Ada\n[credential\n"), ("git", "[user]\n\tname = \"Ada\n\temail = \"a@b\n"),
        ("git", "[remote \"a]\n\turl = b\n"), ("git", "[user]\n\tname = \"Ada\\"), ("pip", "[global\ntimeout = 5\n"),
        ("aws", "[profile work\nregion = eu-north-1\n"),
    ])
    func `a file with an open bracket or quotation mark is left alone`(_ tool: String, _ text: String) async throws {
        let file = try #require(Self.files[tool])
        try write(file, Array(text.utf8))
        let refused = try await setup(tool, "--yes")
        #expect(refused.status == 77 && refused.errorText.contains("[setup.other]"), "\(refused.errorText)")
        #expect(try directory.read(file) == Array(text.utf8))
        #expect(try await setup(tool, "--print").outputText.contains("\n+ "))
    }

    @Test func `setup aws and setup aws default are one profile, and either undoes the other`() async throws {
        for (words, others) in [("aws", "aws default"), ("aws default", "aws")] {
            #expect(try await shell("latchkey setup \(words) --yes").status == 0)
            let again = try await shell("latchkey setup \(others) --yes")
            #expect(again.errorText.contains("aws already gets"), "\(again.errorText)")
            let undone = try await shell("latchkey setup \(others) --undo --yes")
            #expect(undone.status == 0, "\(undone.errorText)")
            #expect(try entries("home/.aws").isEmpty)
        }
    }

    /// Only the command that made the link said so.
    @Test func `setup says each time that the helper isn't on PATH`() async throws {
        let outside = ["PATH": Program.searchPath]
        for tool in ["docker", "docker", "podman"] {
            let run = try await setup(tool, "--yes", with: outside)
            #expect(
                run.status == 0 && run.errorText.contains("docker-credential-latchkey isn't on PATH, so \(tool) can't"),
                "\(run.errorText)")
        }
        let inside = ["PATH": "\(directory / "home/.local/bin"):\(Program.searchPath)"]
        for path in [inside, [:]] {
            #expect(try await !setup("docker", "--yes", with: path).errorText.contains("isn't on PATH"))
        }
    }

    // MARK: - Contents

    /// Files as editors and tools of all kinds leave them, and what each tool's own reader, or Python's for its format,
    /// says afterwards.
    static let contents: [(tool: String, text: String, reader: String, answer: String)] = [
        ("git", "[user]\r\n\tname = Ada\r\n", git, "Ada"),
        ("git", "[user]\n\tname = Ada", git, "Ada"),
        ("git", "[user]\n\tname = Ada\n[credential]\n\thelper = cache\n[credential]\n\thelper = x\n", git, "Ada"),
        ("git", "\u{FEFF}[user]\n\tname = Ada\n", git, "Ada"),
        ("git", "[user]\n\tname = Ada\\\n", git, "Ada"),
        ("git", "[user]\n\tname = Ada\\", git, "Ada\n"),
        ("git", "[user]\r\n\tname = Ada\\\r\n", git, "Ada\n"),
        (
            "git", "[user]\n\tname = \"A\\\"da\" # \"\n\temail = a\\\n[b\n[remote \"a\\\"]b\"] ; \"\n", git,
            "A\"da\n"
        ),
        ("docker", "{ }", docker, "['credsStore']"),
        ("docker", "\n{\"auths\":{\"{\":{}}}", docker, "['credsStore', 'auths']"),
        ("docker", "{\"a\":\"latchkey\",\"credsStore\":\"x\",\"b\":\"latchkey\"}", docker, "['a', 'credsStore', 'b']"),
        ("docker", "{\"credsStore\": null, \"x\": 1}", docker, "['credsStore', 'x']"),
        ("podman", "# mine\r\n[[registry]]\nlocation = \"a.example\"", podman, "['latchkey'] a.example"),
        (
            "cargo", "[registry] # mine\ndefault = \"own\"\r\n", cargo,
            "['cargo:token', 'cargo-credential-latchkey'] own"
        ),
        ("cargo", "\u{FEFF}[registry]\ndefault = \"own\"", cargo, "['cargo:token', 'cargo-credential-latchkey'] own"),
        ("cargo", "[registry]", cargo, "['cargo:token', 'cargo-credential-latchkey'] None"),
        ("pip", "[global]\r\ntimeout = 5\r\n[install]\r\n", pip, "subprocess 5"),
        ("pip", "# keyring-provider = subprocess\n[global]\ntimeout: 5\n", pip, "subprocess 5"),
        ("aws", "[profile \"default\"]\nregion = eu-north-1\n", aws, "eu-north-1 True"),
        ("aws", "[profile\tdefault]\nregion = eu-north-1", aws, "eu-north-1 True"),
        ("uv", "\u{FEFF}[pip]\nstrict = true\n", uv, "subprocess True"),
        ("uv", "# keyring-provider = \"subprocess\"\n[pip]\nstrict = true\n", uv, "subprocess True"),
        ("go", "GOAUTH=\nGOFLAGS=-v\n", "cat config/go/env", "helper go; netrc\nGOFLAGS=-v\n"),
        ("go", "GOAUTH=git /tmp", "cat config/go/env", "helper go; git /tmp"),
    ]
    private static let git = "git config --global user.name; git config --global --get-all credential.helper >&2"
    private static let docker =
        "python3 -c 'import json; print(list(json.load(open(\"home/.docker/config.json\"))))'"
    private static let podman = """
        python3 -c 'import tomllib; c = tomllib.loads(open("home/.config/containers/registries.conf.d/latchkey.conf", newline="").read())
        print(c["credential-helpers"], c["registry"][0]["location"])'
        """
    private static let cargo = """
        python3 -c 'import tomllib; r = tomllib.loads(open("home/.cargo/config.toml", newline="", encoding="utf-8-sig").read())["registry"]
        print(r["global-credential-providers"], r.get("default"))'
        """
    private static let pip = """
        python3 -c 'import configparser; c = configparser.RawConfigParser(); c.read("config/pip/pip.conf")
        print(c["global"]["keyring-provider"], c["global"]["timeout"])'
        """
    private static let aws = """
        AWS_CONFIG_FILE=home/.aws/config "$1/python" -c 'import botocore.session
        c = botocore.session.Session(profile="default").get_scoped_config()
        print(c["region"], "helper aws default" in c["credential_process"])'
        """
    private static let uv = """
        python3 -c 'import tomllib; c = tomllib.loads(open("config/uv/uv.toml", encoding="utf-8-sig").read())
        print(c["keyring-provider"], c["pip"]["strict"])'
        """

    @Test(arguments: SetupFileTests.contents.indices)
    func `a file keeps its other bytes, and its tool still reads it`(_ index: Int) async throws {
        let (tool, text, reader, answer) = Self.contents[index]
        let file = try #require(Self.files[tool])
        try write(file, Array(text.utf8), mode: 0o644)
        let made = try await setup(tool, "--yes")
        #expect(made.status == 0, "\(made.errorText)")
        let read = try await shell(reader)
        #expect(read.status == 0 && read.outputText.contains(answer), "\(read.outputText)\(read.errorText)")
        #expect(try await setup(tool, "--yes").errorText.contains("already gets its credentials from Latchkey"))
        let undone = try await setup(tool, "--undo", "--yes")
        #expect(undone.status == 0, "\(undone.errorText)")
        #expect(try directory.read(file) == Array(text.utf8))
        #expect(try FileManager.default.attributesOfItem(atPath: directory / file)[.posixPermissions] as? Int == 0o644)
    }

    @Test func `bytes that aren't UTF-8 stay, and an empty file stays empty`() async throws {
        let odd: [UInt8] = Array("[user]\n\tname = ".utf8) + [0xE9, 0xFF, 0x0A]
        for (tool, before) in [("git", odd), ("git", []), ("docker", []), ("aws", odd), ("go", [0xFF, 0x0A])] {
            let file = try #require(Self.files[tool])
            try write(file, before)
            #expect(try await setup(tool, "--yes").status == 0)
            #expect(try directory.read(file) != before)
            #expect(try await setup(tool, "--undo", "--yes").status == 0)
            #expect(try directory.read(file) == before, "\(tool)")
        }
    }

    @Test(arguments: [
        ("docker", "{\"auths\": {}} // mine"), ("docker", "{} {}"), ("docker", "[{}]"), ("docker", "\u{FEFF}{}"),
        ("cargo", "[ registry ]\ndefault = \"own\"\n"), ("cargo", "registry.default = \"own\"\n"),
        ("cargo", "registry = { default = \"own\" }\n"), ("cargo", "[\"registry\"]\n"),
        ("cargo", "[registry]\n\"global-credential-providers\" = []\n"),
        ("cargo", "[x]\ny = \"\"\"\n[registry]\n\"\"\"\n"), ("cargo", "[x]\ny = '''\n[registry]\n'''\n[registry]\n"),
        ("cargo", "[registry]\nx = [\n[1],\n]\nglobal-credential-providers = [\"a\"]\n"),
        ("cargo", "[registry\n"), ("cargo", "[registry]\nx = [\n[1],\n]\nglobal-credential-providers = []\n"),
        ("uv", "x = \"\"\"\nkeyring-provider = \"subprocess\"\n\"\"\"\n"),
        ("uv", "[pip]\nkeyring-provider = \"subprocess\"\n"),
        ("pip", "[global]\nkeyring-provider: import\n"), ("pip", "[global]\nKeyring-Provider = import\n"),
        ("pip", "[global]\nkeyring_provider = import\n"),
        ("aws", "[default]\nregion = a\n[profile default]\nregion = b\n"),
        ("go", "GOAUTH=off\n"), ("go", "GOAUTH =x\n"), ("go", "GOAUTH=git /tmp\nGOAUTH=off\n"),
    ])
    func `setup reports a change that would break the tool, and leaves the file`(_ tool: String, _ text: String)
        async throws
    {
        let file = try #require(Self.files[tool])
        try write(file, Array(text.utf8))
        let run = try await setup(tool, "--yes")
        #expect(run.status == 77 && run.errorText.contains("[setup.other]"), "\(run.errorText)")
        #expect(try directory.read(file) == Array(text.utf8))
        #expect(try await setup(tool, "--undo", "--yes").status == 1)
    }

    @Test func `pip's setting in its other spelling is the same setting`() async throws {
        try write("config/pip/pip.conf", Array("[global]\nkeyring_provider = subprocess\n".utf8))
        #expect(try await setup("pip", "--yes").status == 0)
        #expect(try directory.read("config/pip/pip.conf") == Array("[global]\nkeyring_provider = subprocess\n".utf8))
    }

    @Test func `Go's file counts as missing if it is switched off`() async throws {
        let run = try await setup("go", "--yes", with: ["GOENV": "off"])
        #expect(run.status == 77 && !FileManager.default.fileExists(atPath: directory / "off"))
    }

    /// An included file, one line, and the second of git's two files weren't looked at.
    @Test(arguments: [
        ("[credential]\n\thelper = store\n", true), ("[credential]\n\thelper =\n", false), ("", false),
        ("[credential] helper = store\n", true), ("[include]\n\tpath = more\n", true),
        ("[credential]\n\thelper = store\n[credential]\n\thelper =\n", false),
        ("[credential \"https://example.org\"]\n\thelper = store\n", false),
    ])
    func `setup says that git asks other helpers too`(_ text: String, _ isSaid: Bool) async throws {
        try directory.write("home/.gitconfig", text)
        try directory.write("home/more", "[credential]\n\thelper = store\n")
        let run = try await setup("git", "--yes")
        #expect(
            run.status == 0 && run.errorText.contains("git asks another helper too") == isSaid, "\(run.errorText)")
    }

    /// The options became lines of the new one's value.
    @Test(arguments: ["    ", "\t", " "])
    func `a setting is indented as those below it`(_ indentation: String) async throws {
        let pip =
            "[global]\n\n# where\n\(indentation)index-url = http://127.0.0.1:1/simple\n\(indentation)timeout = 60\n"
        let aws = "[default]\n\(indentation)region = eu-central-1\n\(indentation)output = json\n"
        try write("config/pip/pip.conf", Array(pip.utf8))
        try write("home/.aws/config", Array(aws.utf8))
        #expect(try await setup("pip", "--yes").status == 0)
        #expect(try await setup("aws", "--yes").status == 0)
        let read = try await shell(
            """
            /usr/bin/python3 -c 'import configparser, sys
            for name in sys.argv[1:]:
                file = configparser.RawConfigParser()
                file.read(name)
                print([(section, sorted(file[section])) for section in file.sections()])
            ' config/pip/pip.conf home/.aws/config
            """)
        #expect(
            read.outputText == """
                [('global', ['index-url', 'keyring-provider', 'timeout'])]
                [('default', ['credential_process', 'output', 'region'])]

                """, "\(read.errorText)")
        #expect(try await setup("pip", "--undo", "--yes").status == 0)
        #expect(try await setup("aws", "--undo", "--yes").status == 0)
        #expect(try directory.read("config/pip/pip.conf") == Array(pip.utf8))
        #expect(try directory.read("home/.aws/config") == Array(aws.utf8))
    }

    @Test func `setup doesn't write while git does`() async throws {
        try directory.write("home/.gitconfig", "[user]\n")
        try directory.write("home/.gitconfig.lock", "")
        let run = try await setup("git", "--yes")
        #expect(run.status == 75 && run.errorText.contains("[setup.busy]"), "\(run.errorText)")
        #expect(try directory.read("home/.gitconfig") == Array("[user]\n".utf8))
        try FileManager.default.removeItem(atPath: directory / "home/.gitconfig.lock")
        // Of many settings that git writes in the meantime, none is lost.
        let latchkey = try BuiltProducts.latchkey().path
        let shared = try await shell(
            """
            for number in 1 2 3 4 5 6 7 8; do
                for part in a b c; do git config --global "$part.key$number" x || echo refused; done &
                \(latchkey) setup git --yes 2> /dev/null && echo made; \(latchkey) setup git --undo --yes 2> /dev/null
                wait
            done
            git config --global --get-regexp 'key' | wc -l
            """)
        let lines = shared.outputText.split(separator: "\n")
        #expect(lines.contains("made") && lines.last == "\(24 - lines.count { $0 == "refused" })", "\(lines)")
        #expect(try !entries("home").contains(".gitconfig.lock"))
    }

    @Test func `a key in AWS's configuration is left, and the file is listed as plain text`() async throws {
        let text = Array("[default]\naws_access_key_id = AKIAOLD\naws_secret_access_key = example\n".utf8)
        try write("home/.aws/config", text)
        let run = try await setup("aws", "--yes")
        #expect(run.status == 77 && run.errorText.contains("latchkey set aws:PROFILE KEY-ID"), "\(run.errorText)")
        #expect(try directory.read("home/.aws/config") == text)
        #expect(try await setup().outputText.contains(".aws/config"))
        let expanded = try await setup("aws", "--yes", with: ["AWS_CONFIG_FILE": "~/other"])
        #expect(expanded.status == 0 && FileManager.default.fileExists(atPath: directory / "home/other"))
    }

    @Test func `docker's logins in its file are named, because docker no longer sees them`() async throws {
        try write("home/.docker/config.json", Array(#"{"auths":{"127.0.0.1:1":{"auth":"YTpi"}}}"#.utf8))
        let run = try await setup("docker", "--yes")
        #expect(run.status == 0 && run.errorText.contains("latchkey import --from docker"), "\(run.errorText)")
    }

    @Test func `an entry from elsewhere gets its link, and --undo says that the entry stays`() async throws {
        try write("home/.docker/config.json", Array(#"{"credsStore":"latchkey"}"#.utf8))
        try write(
            "home/.config/containers/registries.conf",
            Array("credential-helpers = [\n  'latchkey', \"containers-auth.json\"\n]\n".utf8))
        let path = ["PATH": Program.searchPath]
        for tool in ["docker", "podman"] {
            #expect(try await setup(tool, "--yes", with: path).status == 0)
            #expect(try entries("home/.local/bin") == ["docker-credential-latchkey"])
            let undone = try await setup(tool, "--undo", "--yes", with: path)
            #expect(
                undone.status == 0 && undone.errorText.contains("still asks Latchkey")
                    && !undone.errorText.contains("no longer uses"), "\(undone.errorText)")
            #expect(try entries("home/.local/bin").isEmpty)
        }
    }

    /// docker and podman fail, and uv asks the system's `keyring`.
    @Test func `a tool that doesn't find Latchkey on PATH isn't listed as one that asks it`() async throws {
        let path = ["PATH": Program.searchPath]
        #expect(try await setup("docker", "--yes", with: path).status == 0)
        #expect(try await setup(with: path).outputText.contains("no: latchkey setup docker"))
        let whole = ["PATH": directory / "home/.local/bin:" + Program.searchPath]
        #expect(try await !setup(with: whole).outputText.contains("no: latchkey setup docker"))
        try directory.makeFolder("other")
        try directory.write("other/docker-credential-latchkey", "#!/bin/sh\n", mode: 0o755)
        let hidden = ["PATH": "\(directory / "other"):\(whole["PATH"]!)"]
        #expect(try await setup(with: hidden).outputText.contains("no: latchkey setup docker"))
    }

    @Test func `--undo by another copy of the program removes the link`() async throws {
        let path = ["PATH": Program.searchPath]
        try directory.makeFolder("opt")
        // Copied by another process: a program that this one has open for writing can't be started while any other test's
        // new process still shares that descriptor.
        let copied = try "/bin/cp \(BuiltProducts.latchkey().path) opt/latchkey"
        let made = try await shell("\(copied) && PATH=\(Program.searchPath) opt/latchkey setup docker --yes")
        #expect(made.status == 0, "\(made.errorText)")
        #expect(try entries("home/.local/bin") == ["docker-credential-latchkey"])
        #expect(try await setup("docker", "--undo", "--yes", with: path).status == 0)
        #expect(try entries("home/.local/bin").isEmpty)
    }

    @Test func `a commented line sets nothing up, and the documented link's name does`() async throws {
        try directory.write("home/.gitconfig", "[credential]\n#\thelper = /usr/bin/latchkey helper git\n")
        #expect(try await setup().outputText.contains("no: latchkey setup git"))
        try directory.write("home/.gitconfig", "[credential]\n\thelper = latchkey\n")
        #expect(try await setup().outputText.contains("no: latchkey setup git"))
        try FileManager.default.createSymbolicLink(
            atPath: directory / "bin/git-credential-latchkey", withDestinationPath: BuiltProducts.latchkey().path)
        #expect(try await !setup().outputText.contains("no: latchkey setup git"))
        let run = try await setup("git", "--yes")
        #expect(run.status == 0 && run.errorText.contains("already gets"), "\(run.errorText)")
    }

    // MARK: - Files

    @Test func `links stay links, and a broken link is left alone`() async throws {
        try directory.makeFolder("dotfiles")
        try directory.write("dotfiles/gitconfig", "[user]\n", mode: 0o640)
        try FileManager.default.createSymbolicLink(
            atPath: directory / "home/.gitconfig", withDestinationPath: "../dotfiles/gitconfig")
        #expect(try await setup("git", "--yes").status == 0)
        #expect(String(decoding: try directory.read("dotfiles/gitconfig"), as: UTF8.self).contains("helper git\n"))
        #expect(try await setup("git", "--undo", "--yes").status == 0)
        #expect(try directory.read("dotfiles/gitconfig") == Array("[user]\n".utf8))
        try FileManager.default.removeItem(atPath: directory / "dotfiles/gitconfig")
        let run = try await setup("git", "--yes")
        #expect(run.status == 77 && run.errorText.contains("is a link that leads nowhere"), "\(run.errorText)")
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: directory / "home/.gitconfig")
                == "../dotfiles/gitconfig")
        #expect(try entries("dotfiles").isEmpty)
    }

    @Test func `setup leaves pipes, folders, devices and files past 4 MiB alone, and doesn't wait for them`()
        async throws
    {
        for make in ["mkfifo", "mkdir", "ln -s /dev/null", "truncate -s 4194305"] {
            #expect(try await shell("rm -rf home/.gitconfig; \(make) home/.gitconfig").status == 0)
            let run = try await setup("git", "--yes")
            #expect(run.status == 77 && run.errorText.contains("[setup.unusable]"), "\(make): \(run.errorText)")
        }
    }

    @Test func `another user's file is left alone`() async throws {
        var other = "/etc/hosts"
        if geteuid() == 0 {
            other = try directory.write("others", "[user]\n", mode: 0o666)
            try #require(unsafe chown(other, 65534, 65534) == 0)
        }
        let run = try await setup("git", "--yes", with: ["GIT_CONFIG_GLOBAL": other])
        #expect(run.status == 77 && run.errorText.contains("belongs to another user"))
    }

    @Test func `a relative path from the environment is the same in another folder`() async throws {
        #expect(try await setup("git", "--yes", with: ["GIT_CONFIG_GLOBAL": "mine"]).status == 0)
        #expect(FileManager.default.fileExists(atPath: directory / "mine"))
        let undone = try await BuiltProducts.latchkey().run(
            ["setup", "git", "--undo", "--yes"], environment: environment, folder: "/")
        #expect(undone.status == 0 && !FileManager.default.fileExists(atPath: directory / "mine"))
    }
}
