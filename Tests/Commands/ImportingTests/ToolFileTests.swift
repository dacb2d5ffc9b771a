import Foundation
import LatchkeyCommands
import LatchkeyLog
import Testing
import TestServices

/// The readers of docker's, cargo's, pip's, curl's and Git Credential Manager's files.
struct ToolFileTests: ToolFileSuite {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    // MARK: - docker

    @Test func `docker's logins are read by docker's own rules`() async throws {
        let file = try directory.write(
            "config.json",
            """
            {"auths": {
              "https://index.docker.io/v1/": {"auth": "\(base64("ada:pass:wörd"))", "email": "a@example.org"},
              "token.example": {"auth": "\(base64("<token>:"))", "identitytoken": "refresh"},
              "old.example": {"username": "bob", "password": "plain"},
              "helper.example": {},
              "none.example": {"auth": ""}
            }, "credHelpers": {"gcr.io": "gcloud"}}
            """)
        let read = try await DockerLogins.read(file)
        #expect(
            try await entries(read) == [
                "docker:https://index.docker.io/v1/ ada pass:wörd", "docker:old.example bob plain",
                "docker:token.example <token> refresh",
            ])
        #expect(read.skippedCount == 0)
    }

    @Test(arguments: [
        "\"auth\": \"YWRhOnA\"", "\"auth\": \"!!!!\"", "\"auth\": \"YWRh\"", "\"auth\": \"OnA=\"",
        "\"auth\": \"YWRhOg==\"",
        "\"registrytoken\": \"x\"", "\"password\": \"x\"", "\"auth\": \"YWRhOnA=\", \"identitytoken\": \"x\"",
    ])
    func `a login that no store accepts is named, and stays in the file`(_ members: String) async throws {
        let file = try directory.write("config.json", "{\"auths\":{\"one.example\":{\(members)}}}")
        let read = try await DockerLogins.read(file)
        #expect(read.skippedCount == 1)
        #expect(read.skippedNames.map { "\($0)".prefix(11) } == ["one.example"])
    }

    @Test(arguments: [
        "[]", "{\"auths\": []}", "{\"auths\": {\"a\": \"b\"}}", "{\"auths\": {\"a\": {\"auth\": 1}}}", "{\"auths\":",
        "{} trailing", "{\"auths\": {}} // comment", "{\"a\": 1, \"a\": 2}", "\u{FEFF}{}",
    ])
    func `an invalid docker configuration is refused`(_ text: String) async throws {
        let file = try directory.write("config.json", text)
        #expect(await problem { _ = try await DockerLogins.read(file) } == .notThatFormat)
    }

    @Test func `JSON with more size or depth than any configuration is refused`() async throws {
        for text in [
            String(repeating: "[", count: 100_000), "{\"auths\":" + String(repeating: "{\"a\":", count: 40) + "1",
            "{\"a\":[" + String(repeating: "1,", count: 100_000) + "1]}",
        ] {
            let file = try directory.write("config.json", text)
            #expect(await problem { _ = try await DockerLogins.read(file) } == .notThatFormat)
        }
    }

    @Test(arguments: [
        ("{\"auths\":{\"a\":{\"auth\":\"YTpi\"}}}", "{\"auths\":{\"a\":{}}}"),
        (
            "{\r\n\t\"auths\" : {\"a\": { \"auth\" : \"YTpi\" ,\n \"email\":\"x\" } }, \"x\": [1, 2]}\n\n",
            "{\r\n\t\"auths\" : {\"a\": { \"email\":\"x\" } }, \"x\": [1, 2]}\n\n"
        ),
        (
            "{\"auths\":{\"a\":{\"email\":\"x\", \"auth\":\"YTpi\", \"identitytoken\": \"\"}},\"auth\":\"kept\"}",
            "{\"auths\":{\"a\":{\"email\":\"x\"}},\"auth\":\"kept\"}"
        ),
        (
            "{\"auths\":{\"a\":{\"auth\":\"YTpi\",\"email\":\"x\",\"identitytoken\":\"\",\"y\":{}}}}",
            "{\"auths\":{\"a\":{\"email\":\"x\",\"y\":{}}}}"
        ),
        ("{\"auths\":{\"a\":{\"\\u0061uth\":\"YTpi\"},\"b\":{}}}", "{\"auths\":{\"a\":{},\"b\":{}}}"),
    ])
    func `docker's file without its logins is otherwise the same, byte for byte`(_ before: String, _ after: String)
        async throws
    {
        let file = try directory.write("config.json", before, mode: 0o640)
        let link = directory / "link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "config.json")
        let read = try await DockerLogins.read(link)
        #expect(read.skippedCount == 0)
        try await empty(read)
        #expect(String(decoding: try directory.read("config.json"), as: UTF8.self) == after)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "config.json")
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o640)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["config.json", "link"])
    }

    /// The file was emptied, and tools then got another password or none.
    @Test func `docker's logins that no helper could serve stay, and addresses become what docker asks for`()
        async throws
    {
        let latin = Data([0x75, 0x3A, 0x70, 0xE4]).base64EncodedString()
        let file = try directory.write(
            "config.json",
            """
            {"auths": {
              "one.example": {"auth": "\(base64("ada:host"))"}, "one.example/team": {"auth": "\(base64("ada:team"))"},
              "latin.example": {"auth": "\(latin)"}, "lines.example": {"auth": "\(base64("ada:p\n"))"},
              "http://old.example:5000/v2/": {"auth": "\(base64("ada:old"))"}
            }}
            """)
        let read = try await DockerLogins.read(file)
        #expect(try await entries(read) == ["docker:old.example:5000 ada old", "docker:one.example ada host"])
        #expect(
            Set(read.skippedNames) == [
                "one.example/team, which is for a part of a registry",
                "latin.example, whose password isn't one line of UTF-8",
                "lines.example, whose password isn't one line of UTF-8",
            ])
    }

    // MARK: - cargo

    /// By cargo 1.95, which asks its providers for these.
    @Test(arguments: [
        ("https://reg.example:443/index", "https://reg.example/index"), ("http://R.example:80", "http://r.example/"),
        ("https://reg.example:444/a", "https://reg.example:444/a"), ("https://bücher.example/index", nil),
        ("https://reg.example/a b", nil), ("https://reg.example/a/../b", nil), ("https://reg.example/a/./b", nil),
    ])
    func `an index has the address that cargo asks for, or its token stays`(_ index: String, _ asked: String?)
        async throws
    {
        try directory.write("config.toml", "[registries.own]\nindex = \"\(index)\"\n")
        let file = try directory.write("credentials.toml", "[registries.own]\ntoken = \"t\"\n")
        let read = try await CargoTokens.read(file) { _ in nil }
        #expect(try await entries(read) == (asked.map { ["cargo:\($0) token t"] } ?? []))
        #expect(
            read.skippedNames
                == (asked == nil ? ["own, whose index has an address that cargo writes in another way"] : []))
    }

    private static let configuration = """
        [registries.own]
        index = "sparse+https://own.example/index/" # comment
        [registries]
        dotted.index = 'https://Git.Example'
        "inline" = { index = "ssh://git@Host.example/Index.git", token = "not here" }
        """

    @Test func `cargo's tokens are read, for the indexes that its configuration and environment name`() async throws {
        try directory.write("config.toml", Self.configuration)
        let file = try directory.write(
            "credentials.toml",
            """
            # mine
            [registry]
            token = "crates"

            [registries.own]
            token = 'own'\u{20}
              [ registries . "dotted" ]
            token = \"\"\"
            dot\\
              ted\\u00e9\"\"\"
            [registries]
            inline.token = "inline"
            named.token = "named"
            """)
        let read = try await CargoTokens.read(file) { $0 == "named" ? "sparse+https://named.example/" : nil }
        #expect(
            try await entries(read) == [
                "cargo:https://git.example/ token dottedé",
                "cargo:https://github.com/rust-lang/crates.io-index token crates",
                "cargo:sparse+https://named.example/ token named", "cargo:sparse+https://own.example/index/ token own",
                "cargo:ssh://git@Host.example/Index.git token inline",
            ])
        #expect(read.skippedCount == 0)
        try await empty(read)
        #expect(
            String(decoding: try directory.read("credentials.toml"), as: UTF8.self) == """
                # mine
                [registry]

                [registries.own]
                  [ registries . "dotted" ]
                [registries]

                """)
    }

    @Test func `a registry without an index, and a signing key, are named`() async throws {
        let file = try directory.write(
            "credentials.toml", "[registries.lost]\ntoken = \"a\"\n[registries.signs]\nsecret-key = \"k3.secret.x\"\n")
        let read = try await CargoTokens.read(file) { _ in nil }
        #expect(read.skippedCount == 2 && read.skippedNames.count == 2)
        #expect(
            read.skippedNames == [
                "lost, whose index isn't in cargo's configuration", "signs, whose key isn't a token",
            ])
    }

    @Test func `a token in an inline table is read, and stays in the file`() async throws {
        let text = "[registries]\nown = { token = \"a\" }\n"
        let file = try directory.write("credentials.toml", text)
        let read = try await CargoTokens.read(file) { _ in "sparse+https://own.example/" }
        #expect(try await entries(read) == ["cargo:sparse+https://own.example/ token a"])
        #expect(await problem { try await empty(read) } == .interwoven)
        // A rehearsal says the same.
        #expect(await problem { for file in read.files { try await file.checkEmptying() } } == .interwoven)
        #expect(try directory.read("credentials.toml") == Array(text.utf8))
    }

    @Test(arguments: [
        ("token", 1), ("token = ", 1), ("token = \"a\nb\"\n", 1), ("\n\ntoken = \"a\" b\n", 3), ("[registry\n", 1),
        ("a = \"\"\"\n\n", 3), ("a = [1,\n2\n", 3), ("a = {b = 1 c = 2}\n", 1), ("= 1\n", 1), ("a = 'b\n", 1),
        ("\"\"\"a\"\"\" = 1\n", 1), ("a = " + String(repeating: "[", count: 17), 1),
    ])
    func `invalid TOML is refused with its line`(_ text: String, _ line: Int) async throws {
        let file = try directory.write("credentials.toml", text)
        #expect(await problem { _ = try await CargoTokens.read(file) { _ in nil } } == .malformed(line: line))
    }

    /// Python's own reader says what each of 3,000 mutated files holds.
    @Test func `the reader finds each token that Python finds in TOML`() async throws {
        var mutator = Mutator(
            seed: 20_261_123,
            samples: [
                "[registries.own]\ntoken = \"a\\tb\\u00e9\"\n", "registries.own.token='x'\n[other]\ntoken = 'no'\n",
                "[registries]\nown = { token = \"in\", x = [1, {y = 2}] }\nb.token = \"\"\"\nl1\\\n   l2\"\"\"\n",
                "# c\n[registries . \"own\"] # c\n\"token\" = '''a''b'''\n[[registries.list]]\ntoken = 'x'\n",
                "d = 1979-05-27 07:32:00 # d\nf = 1.0e3\n[registries.own]\nlist = [ \"a\", # c\n 'b', ]\ntoken = \"x\"\n",
            ],
            words: [
                "\"\"\"", "'''", "\"", "'", "\\", "\\\n", "[", "]", "{", "}", "=", ".", ",", "#", "\n", " ", "\t",
                "registries", "token",
            ])
        var names: [String] = []
        for number in 0..<3000 {
            names.append(try directory.write("\(number).toml", mutator.next()))
        }
        let judge = try await Program("/usr/bin/python3").run(
            [
                "-c",
                """
                import json, sys, tomllib
                for number in range(3000):
                    try:
                        document = tomllib.loads(open(f"{sys.argv[1]}/{number}.toml", newline="").read())
                        tables = document.get("registries")
                        found = {}
                        for name, table in (tables.items() if isinstance(tables, dict) else ()):
                            if isinstance(table, dict) and isinstance(table.get("token"), str):
                                found[name] = table["token"].replace("\\r", "")
                        print(json.dumps(found))
                    except (ValueError, RecursionError):
                        print("null")
                """, directory.path,
            ]
        ).successful("tomllib").outputText.split(separator: "\n")
        try #require(judge.count == names.count)
        var compared = 0
        for (name, line) in zip(names, judge) where line != "null" {
            let expected = try JSONDecoder().decode([String: String].self, from: Data(line.utf8))
            // A name that no key can have, or a token that is empty, is left out aloud.
            let read = try await CargoTokens.read(name) { "sparse+https://\($0.isEmpty ? "empty" : $0).example/" }
            let found = try await entries(read).map { $0.replacing("\r", with: "") }
            let wanted = expected.filter { registry, token in
                registry != "crates-io" && !token.isEmpty
                    && !registry.unicodeScalars.contains { $0.properties.generalCategory == .control }
            }.map { "cargo:sparse+https://\($0.isEmpty ? "empty" : $0).example/ token \($1)" }
            let text = String(decoding: try Data(contentsOf: URL(fileURLWithPath: name)), as: UTF8.self)
            #expect(Set(found).isSuperset(of: wanted), "\(text)")
            if !wanted.isEmpty { compared += 1 }
        }
        #expect(compared > 300, "too few of the files are TOML: \(compared)")
    }

    // MARK: - netrc and .pypirc

    /// It became a name, which a listing shows, and was left in the file.
    @Test func `a login in an address isn't imported`() async throws {
        let file = try directory.write(
            "pypirc", "[own]\nrepository = https://u:urlpw@h.example/\nusername = ada\npassword = pw\n")
        let read = try await PyPILogins.read(file)
        #expect(try await entries(read).isEmpty && read.skippedNames == ["own, whose address has a password"])
        // Where the address is the entry's name, the name is shown without it.
        let netrc = try await NetrcLogins.read(
            directory.write("login", "machine u:urlpw@h.example login ada password pw\n"))
        #expect(netrc.skippedNames == ["***@h.example"])
        let docker = try await DockerLogins.read(
            directory.write("config.json", #"{"auths":{"https://u:urlpw@h.example":{"auth":"YTpi"}}}"#))
        #expect(docker.skippedNames == ["***@h.example, whose address has a password"])
    }

    /// By git 2.39; the helper answers these as git does.
    @Test func `git's logins with a bare percent sign, or without a user, are imported`() async throws {
        let git = try await GitCredentials.read(
            directory.write(
                "credentials", "https://ada:50%off@a.example\nhttps://x%zz:p%2Fw%@b.example\nhttps://:tok@c.example\n"))
        #expect(
            try await entries(git) == [
                "git:https://a.example ada 50%off", "git:https://b.example x%zz p/w%",
                "git:https://c.example (no user) tok",
            ])
        let gh = try await GitHubHosts.read(
            directory.write("hosts.yml", "\u{FEFF}github.com:\n    oauth_token: token\n    user: ada\n"))
        #expect(try await entries(gh) == ["gh:github.com ada token"])
    }

    @Test func `an entry that is left out is named, with the reason`() async throws {
        let gh = try await GitHubHosts.read(directory.write("hosts.yml", "github.com:\n    oauth_token: token\n"))
        #expect(gh.skippedNames == ["github.com, without a user"])
        let python = try await PythonKeyringFile.read(directory.write("keyring_pass.cfg", "[shop]\nada = \n"))
        #expect(python.skippedNames == ["shop, with an empty secret"])
        let git = try await GitCredentials.read(directory.write("credentials", "https://a%01b:pw@h.example\n"))
        #expect(git.skippedNames == ["line 1, with a name that stores refuse"])
    }

    @Test func `netrc's logins are read by the rules of curl and Python, and removed with their lines`()
        async throws
    {
        let file = try directory.write(
            "netrc",
            #"""
            # mine
            machine one.example login ada password p#ss
            machine two.example
              login "b o\"b"
              password "a \\ b\n"   # said twice
            macdef init
            cd /machine evil.example login x

            machine none.example login eve
            machine three.example:8443 login ada password last
            """#)
        let read = try await NetrcLogins.read(file)
        #expect(
            try await entries(read) == [
                "git:https://one.example ada p#ss", "git:https://three.example:8443 ada last",
                "git:https://two.example b o\"b a \\ b\n",
            ])
        #expect(read.skippedCount == 0)
        try await empty(read)
        #expect(
            String(decoding: try directory.read("netrc"), as: UTF8.self) == """
                # mine
                   # said twice
                macdef init
                cd /machine evil.example login x

                machine none.example login eve

                """)
    }

    @Test(arguments: ["default login a password b\n", "machine a password b\n", "machine a login b password \"\"\n"])
    func `a login that names no machine, no user or no password stays`(_ text: String) async throws {
        let read = try await NetrcLogins.read(try directory.write("netrc", text))
        #expect(read.skippedCount == 1)
    }

    @Test(arguments: [
        ("machine", 1), ("login a\n", 1), ("machine a login b password\n", 2), ("\nmachine a password #b\n", 2),
        ("machine a login \"b\n\"", 1), ("machine a b c\n", 1), ("machine a password \"b\\", 1),
    ])
    func `an invalid netrc, or one that its readers disagree on, is refused with its line`(
        _ text: String, _ line: Int
    ) async throws {
        let file = try directory.write("netrc", text)
        #expect(await problem { _ = try await NetrcLogins.read(file) } == .malformed(line: line))
    }

    @Test func `pypirc's passwords are read by twine's rules, and removed with their lines`() async throws {
        let file = try directory.write(
            "pypirc",
            """
            [distutils]
            index-servers =
                pypi
                own
            [pypi]
            username = __token__
            Password: pypi-x%y=z
            [testpypi]
            username = __token__
            [own] ; mine
            repository: https://own.example/simple/
            password = last
            username = ada
            [corp]
              # indented
              repository = https://corp.example/
              username = bob
              password = in
            """)
        let read = try await PyPILogins.read(file)
        #expect(
            try await entries(read) == [
                "https://corp.example/ bob in",
                "https://own.example/simple/ ada last", "https://upload.pypi.org/legacy/ __token__ pypi-x%y=z",
            ])
        // Python's own reader agrees, before and after.
        let script = """
            import configparser, sys
            c = configparser.RawConfigParser()
            c.read(sys.argv[1])
            print([c[s].get("password") for s in c.sections()])
            """
        let before = try await Program("/usr/bin/python3").run(["-c", script, file]).successful("configparser")
        #expect(before.outputText == "[None, 'pypi-x%y=z', None, 'last', 'in']\n")
        try await empty(read)
        let after = try await Program("/usr/bin/python3").run(["-c", script, file]).successful("configparser")
        #expect(after.outputText == "[None, None, None, None, None]\n")
        #expect(
            String(decoding: try directory.read("pypirc"), as: UTF8.self) == """
                [distutils]
                index-servers =
                    pypi
                    own
                [pypi]
                username = __token__
                [testpypi]
                username = __token__
                [own] ; mine
                repository: https://own.example/simple/
                username = ada
                [corp]
                  # indented
                  repository = https://corp.example/
                  username = bob

                """)
    }

    @Test(arguments: [
        "password = x\n", "[pypi\n", "[pypi]\npassword = a\n b\n", "[pypi]\npassword = a\npassword = b\n",
        "[pypi]\nword\n",
    ])
    func `a file that twine would read differently is refused`(_ text: String) async throws {
        let file = try directory.write("pypirc", text)
        guard case .malformed = await problem({ _ = try await PyPILogins.read(file) }) else {
            Issue.record("\(text) was read")
            return
        }
        for text in ["[own]\nusername = a\npassword = b\n", "[pypi]\npassword = b\n"] {
            #expect(try await PyPILogins.read(directory.write("pypirc", text)).skippedCount == 1)
        }
    }

    // MARK: - Git Credential Manager

    @Test func `the files of Git Credential Manager's plain-text store are read, and go`() async throws {
        let folder = try directory.makeFolder("store/git/https/example.org")
        try directory.write(
            "store/git/https/example.org/ada.credential", "pass=word\nservice=https://example.org\naccount=ada\n")
        try directory.write("store/git/https/example.org/notes.txt", "mine\n")
        try directory.makeFolder("elsewhere")
        try directory.write("elsewhere/eve.credential", "x\nservice=https://evil.example\naccount=eve\n")
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/link", withDestinationPath: directory / "elsewhere")
        let read = try await GitCredentialManagerFiles.read(directory / "store")
        #expect(try await entries(read) == ["git:https://example.org ada pass=word"])
        try await empty(read)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["link", "notes.txt"])
        for text in ["", "x", "\nservice=a\naccount=b\n", "x\naccount=b\n", "x\nservice=https://a\n"] {
            try directory.write("store/git/https/example.org/bob.credential", text)
            #expect(try await GitCredentialManagerFiles.read(directory / "store").skippedCount == 1, "\(text)")
        }
        #expect(
            await problem { _ = try await GitCredentialManagerFiles.read(directory / "none") } == .unreadable(ENOENT))
    }
}
