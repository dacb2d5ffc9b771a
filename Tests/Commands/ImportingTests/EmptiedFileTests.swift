import Foundation
import LatchkeyCommands
import LatchkeyLog
import Testing
import TestServices

/// What is left of a tool's file when the secrets are taken out, and which files are left alone.
struct EmptiedFileTests: ToolFileSuite {
    private let directory: TestDirectory

    init() throws {
        directory = try TestDirectory()
    }

    private let line = "https://ada:p@example.org\n"

    @Test func `git's file is left empty, with its mode`() async throws {
        let file = try directory.write("credentials", line, mode: 0o644)
        let read = try await GitCredentials.read(file)
        try await empty(read)
        #expect(try directory.read("credentials").isEmpty)
        #expect(try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o644)
    }

    @Test func `lines without a login stay when git's file is emptied`() async throws {
        let file = try directory.write("credentials", "# mine\n\(line)https://example.org\n")
        let read = try await GitCredentials.read(file)
        #expect(read.skippedCount == 0)
        try await empty(read)
        #expect(try directory.read("credentials") == Array("# mine\nhttps://example.org\n".utf8))
    }

    @Test func `git's first of two passwords under one name is imported, and the other one is named`() async throws {
        let file = try directory.write("credentials", line + "https://ada:other@example.org\n" + line)
        let read = try await GitCredentials.read(file)
        #expect(try await entries(read) == ["git:https://example.org ada p"])
        #expect(read.skippedCount == 1 && read.skippedNames.count == 1)
        #expect(read.skippedNames == ["line 2, of which another secret was imported"])
    }

    @Test func `a file that was changed since, or that is missing, is left alone`() async throws {
        let file = try directory.write("credentials", line)
        let read = try await GitCredentials.read(file)
        try directory.write("credentials", line + line)
        #expect(await problem { try await empty(read) } == .changed)
        #expect(try directory.read("credentials") == Array((line + line).utf8))
        try FileManager.default.removeItem(atPath: file)
        #expect(await problem { try await empty(read) } == .unreadable(ENOENT))
    }

    @Test func `a file with a second name, which would keep the secrets, is left`() async throws {
        let file = try directory.write("credentials", line)
        try FileManager.default.linkItem(atPath: file, toPath: directory / "second")
        let read = try await GitCredentials.read(file)
        #expect(await problem { try await empty(read) } == .hardLinked)
        #expect(try directory.read("credentials") == Array(line.utf8))
    }

    @Test func `another user's file is left alone`() async throws {
        var file = "/etc/hosts"
        if geteuid() == 0 {
            file = try directory.write("credentials", line)
            try #require(unsafe chown(file, 65534, 65534) == 0)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let read = try await GitCredentials.read(file)
        #expect(await problem { try await empty(read) } == .othersFile)
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
    }

    // MARK: - What isn't imported stays

    /// The reader took the last of two logins or passwords, and nothing of a comment, a macro or an account; what was cut
    /// was everything from the first word of the login to the last.
    @Test(arguments: [
        ("machine a.example login b password c login d\n", "a.example, which has two logins or passwords"),
        ("machine a.example\nlogin b\npassword c\npassword d\n", "a.example, which has two logins or passwords"),
        ("machine a.example login b account c password d\n", "a.example, whose account isn't imported"),
        ("machine a.example account c\n", "a.example, whose account isn't imported"),
        ("# machine a.example login b password c\n", "line 1, a comment or macro with a password"),
        ("machine a.example login b #password c\n", "line 1, a comment or macro with a password"),
        ("\nmacdef init\nmachine a.example login b password c\n\n", "line 2, a comment or macro with a password"),
        ("machine https://a.example login b password c\n", "https://a.example"),
        ("machine a.example login b password c\ndefault login d password e\n", "default"),
    ])
    func `a repeated entry of a netrc, or one without a login, is named and stays`(_ text: String, _ name: String)
        async throws
    {
        let read = try await NetrcLogins.read(try directory.write("netrc", text))
        #expect(read.skippedNames.map { "\($0)" } == [name])
    }

    @Test(arguments: [
        (
            "machine a.example login b # work\n  password c\n# d\nmachine e.example\n",
            " # work\n# d\nmachine e.example\n"
        ),
        (
            "machine a.example\r\n\tlogin b\r\nmacdef init\r\ncd /\r\n\r\n\tpassword c\r\nmachine d.example login e\r\n",
            "macdef init\r\ncd /\r\n\r\nmachine d.example login e\r\n"
        ),
        ("machine a.example login b password c machine d.example\nlogin e\n", " machine d.example\nlogin e\n"),
        (
            "machine d.example machine a.example login b password c\nmachine e.example\n",
            "machine d.example \nmachine e.example\n"
        ),
        ("machine a.example password c login b", ""),
        ("machine a.example\nlogin b\npassword c\n\nmachine d.example\nlogin e\npassword f\n", "\n"),
    ])
    func `the words of a netrc's logins are removed, and the rest stays`(_ before: String, _ after: String) async throws
    {
        let read = try await NetrcLogins.read(try directory.write("netrc", before))
        #expect(read.skippedCount == 0)
        try await empty(read)
        #expect(String(decoding: try directory.read("netrc"), as: UTF8.self) == after)
    }

    /// "YTpi" is "a:b". docker doesn't tell upper from lower case in members, and takes `auth` before `password`.
    @Test(arguments: [
        "\"auth\":\"YTpi\",\"password\":\"c\"", "\"password\":\"c\",\"username\":\"a\",\"auth\":\"YTpi\"",
        "\"auth\":\"YTpi\",\"Password\":\"b\"", "\"auth\":\"YTpi\",\"IDENTITYTOKEN\":\"c\"",
        "\"auth\":\"YTpi\",\"pa\u{17F}\u{17F}word\":\"b\"", "\"identitytoken\":\"c\",\"password\":\"b\"",
    ])
    func `a login of docker's with a second secret is named and stays`(_ members: String) async throws {
        let read = try await DockerLogins.read(
            try directory.write("config.json", "{\"auths\":{\"one.example\":{\(members)}}}"))
        #expect(read.skippedCount == 1)
        #expect(read.skippedNames.map { "\($0)".prefix(11) } == ["one.example"])
    }

    @Test(arguments: [
        (
            "{\"auths\":{\"a\":{\"auth\":\"YTpi\",\"username\":\"a\",\"password\":\"b\"}}}", "{\"auths\":{\"a\":{}}}"
        ),
        (
            "{\"auths\":{\"a\":{\"auth\":\"YTpi\",\"username\":\"c\"},\"b\":{\"username\":\"d\"}}}",
            "{\"auths\":{\"a\":{\"username\":\"c\"},\"b\":{\"username\":\"d\"}}}"
        ),
    ])
    func `users of docker's that the store doesn't have stay`(_ before: String, _ after: String) async throws {
        let read = try await DockerLogins.read(try directory.write("config.json", before))
        #expect(read.skippedCount == 0)
        try await empty(read)
        #expect(String(decoding: try directory.read("config.json"), as: UTF8.self) == after)
    }

    /// Each became a name such as `git:# https://example.org`, and its line was deleted.
    @Test(arguments: [
        "# https://ada:p@example.org", "\u{FEFF}https://ada:p@example.org", " https://ada:p@example.org",
        "https://ada:p@ss@example.org", "https://ada:p/w@example.org", "https://ada:p@exam ple.org",
        "https://ada:p@%2fexample.org", "https://ada:p@", "https://ada:pexample.org",
        "https://ada:p@example.org/https://eve:p@example.org", "https://ada:p@example.org:/x", "://ada:p@example.org",
        "1https://ada:p@example.org",
    ])
    func `a line that isn't a login for git is named and stays`(_ text: String) async throws {
        let read = try await GitCredentials.read(try directory.write("credentials", text + "\n"))
        #expect(try await entries(read).isEmpty)
        #expect(read.skippedNames == ["line 1, which isn't a URL with user and password"])
    }

    @Test(arguments: ["account=b\n", "service=https://b.example\n", "oauth=c\n", "p\n"])
    func `a file of Git Credential Manager with lines that aren't imported is named and stays`(
        _ line: String
    ) async throws {
        try directory.makeFolder("store")
        try directory.write("store/a.credential", "p\nservice=https://a.example\naccount=a\n" + line)
        let read = try await GitCredentialManagerFiles.read(directory / "store")
        #expect(read.files.isEmpty && read.skippedNames == ["a.credential, which has other lines"])
    }

    @Test func `comments stay when cargo's and twine's files are emptied, and comments with a secret keep the file`()
        async throws
    {
        let cargo = try directory.write("credentials.toml", "[registry]\n\ttoken = \"a\" # mine\n")
        let read = try await CargoTokens.read(cargo) { _ in nil }
        #expect(read.skippedCount == 0)
        try await empty(read)
        #expect(String(decoding: try directory.read("credentials.toml"), as: UTF8.self) == "[registry]\n # mine\n")
        for text in ["[registry]\ntoken = \"a\"\n#token=\"b\"\n", "[registry]\ntoken = [\"a\"]\n"] {
            try directory.write("credentials.toml", text)
            #expect(try await CargoTokens.read(cargo) { _ in nil }.skippedCount == 1)
        }
        for comment in ["# password = c", ";Password: c"] {
            let pypirc = try directory.write("pypirc", "[pypi]\nusername = a\npassword = b\n\(comment)\n")
            #expect(try await PyPILogins.read(pypirc).skippedNames == ["line 4, a comment with a password"])
        }
    }

    /// Whatever a file is like: once it is emptied, nothing is found in it any more, and it is still of its format.
    @Test func `an emptied file holds no entry, for 4,000 mutated files`() async throws {
        var docker = Mutator(
            seed: 1,
            samples: [
                "{\"auths\":{\"a\":{\"auth\":\"YTpi\"},\"b\":{\"auth\":\"YTo=\",\"identitytoken\":\"t\"}},\"x\":{}}",
                "{ \"auths\" : { \"a\" : { \"email\" : \"e\" , \"auth\" : \"YTpi\" , \"y\" : [ 1 ] } } }",
            ], words: ["\"auth\"", "\"identitytoken\"", ":", ",", "{", "}", "\"", "\"YTpi\"", "\\u0061", " "])
        var cargo = Mutator(
            seed: 2,
            samples: [
                "[registry]\ntoken = \"a\"\n", "[registries.own]\ntoken = '''a\nb'''\nx = 1\n",
                "registries.b.token = 'x'\r\n",
                "[registries]\nown = { token = 'in' }\n",
            ], words: ["'''", "\"", "'", "[", "]", "=", "token", "registry", "\n", "\r\n", "#", " "])
        var netrc = Mutator(
            seed: 3,
            samples: [
                "machine a login b password c\nmachine d\n\tlogin \"e f\" password \"g\\\"\"\n# h\n",
                "macdef m\nx\n\nmachine a password b login c\n",
            ], words: ["machine ", "login ", "password ", "default ", "macdef ", "\"", "\\", "#", "\n", " "])
        var pypirc = Mutator(
            seed: 4,
            samples: [
                "[pypi]\nusername = a\npassword = b\n",
                "[own]\r\nrepository: https://x\r\nusername: a\r\npassword: b\r\n",
            ], words: ["[", "]", "=", ":", "password", "[pypi]", "\n", "\r\n", " ", "#", ";"])
        var emptied = Array(repeating: 0, count: 4)
        for round in 0..<4000 {
            let kind = round % 4
            let file = try directory.write("any", [docker.next(), cargo.next(), netrc.next(), pypirc.next()][kind])
            func read() async throws -> CredentialImport {
                switch kind {
                case 0: try await DockerLogins.read(file)
                case 1: try await CargoTokens.read(file) { _ in "sparse+https://own.example/" }
                case 2: try await NetrcLogins.read(file)
                default: try await PyPILogins.read(file)
                }
            }
            guard let found = try? await read(), found.skippedCount == 0, !found.files.isEmpty,
                (try? await empty(found)) != nil
            else { continue }
            emptied[kind] += 1
            let rest = try await read()
            #expect(try await entries(rest).isEmpty && rest.skippedCount == 0)
        }
        #expect(emptied.allSatisfy { $0 > 100 }, "too few files can be read: \(emptied)")
    }
}
