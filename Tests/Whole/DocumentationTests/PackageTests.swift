import Foundation
import LatchkeyCommands
import Testing
import TestServices

/// The Debian package, made of the program that the tests use. Tests/debian-package has lintian look at it, makes it
/// again to compare the bytes, and installs, upgrades and purges it in a bare Debian.
struct PackageTests {
    private static let script = Repository.root.appendingPathComponent(".packaging/deb").path

    /// Made once: it takes as long as its compression.
    private static let made = Task { try await Made() }

    private struct Made {
        let directory: TestDirectory
        let file: String
        /// Where its files were unpacked.
        let root: String
        /// systemd's units, but for what is after their name.
        var units: String { "\(root)/usr/lib/systemd/system/latchkey-credentials" }

        init() async throws {
            directory = try TestDirectory()
            let environment = [
                "PATH": Program.searchPath, "HOME": directory.path, "DEBFULLNAME": "Ada", "DEBEMAIL": "ada@example.org",
                "SOURCE_DATE_EPOCH": "1763884800", "DPKG_DEB_COMPRESSOR_LEVEL": "0",
            ]
            let run = try await Program(script).run(
                ["--programs", try BuiltProducts.folder(), "--output", directory.path], environment: environment
            ).successful(".packaging/deb")
            let files = run.outputText.split(separator: "\n").map(String.init)
            guard files.count == 1 else { throw ServiceFailure("\(files)") }
            file = files[0]
            root = directory / "root"
            try await Program("dpkg-deb").run(["--extract", file, root]).successful("dpkg-deb")
        }
    }

    private func field(_ name: String) async throws -> String {
        try await Program("dpkg-deb").run(["--field", Self.made.value.file, name]).successful("dpkg-deb").outputText
            .trimmingCharacters(in: .newlines)
    }

    @Test func `the package has the program's version, and depends on what the program links and loads`() async throws {
        let version = try await BuiltProducts.latchkey().run(["version"]).successful("version").outputText
        // A version that isn't released yet adds the commit.
        #expect(try await "latchkey \(field("Version").prefix { $0 != "~" })\n" == version)
        #expect(try await field("Maintainer") == "Ada <ada@example.org>")
        let depends = try await field("Depends")
        for library in ["libc6", "libsodium23", "libsqlite3-0"] {
            #expect(depends.contains("\(library) (>= "), "\(depends)")
        }
        let listed = try await depends + field("Recommends") + field("Suggests")
        for package in ["libcurl4", "libmicrohttpd12", "libssl3", "libglib2.0-0", "libsecret-1-0", "libpq5"] {
            #expect(listed.contains(package), "\(package)")
        }
    }

    @Test func `the license is Apache-2.0, and every page that names one agrees`() async throws {
        // Debian's machine-readable form (DEP-5).
        let identifier = "\nLicense: Apache-2.0\n"
        let places = ["https://www.apache.org/licenses/LICENSE-2.0", "/usr/share/common-licenses/Apache-2.0"]
        let packaged = try await Self.made.value.root + "/usr/share/doc/latchkey/copyright"
        let text = try String(contentsOfFile: packaged, encoding: .utf8)
        for words in [identifier] + places { #expect(text.contains(words), "\(words)") }
        // Its own words and no others, by which services recognize a license.
        #expect(try Repository.text("LICENSE") == String(contentsOfFile: places[1], encoding: .utf8))
        for page in ["README.md", "CONTRIBUTING.md"] {
            #expect(try Repository.text(page).contains("[license](LICENSE)"), "\(page)")
            #expect(try Repository.text(page).contains("Apache-2.0"), "\(page)")
        }
    }

    /// Of 0.1.0, whose units name a program of its own.
    @Test func `the package replaces the keyring's package`() async throws {
        for name in ["Provides", "Conflicts", "Replaces"] {
            #expect(try await field(name).hasPrefix("latchkey-keyring"), "\(name)")
        }
        let former = try await Self.made.value.root + "/usr/lib/latchkey/latchkey-keyring"
        let run = try await Program(former).run(["keyring", "serve", "--help"]).successful("latchkey-keyring")
        #expect(run.outputText.hasPrefix("latchkey keyring serve: "))
    }

    @Test func `the package holds only the program, the helpers' names, the manual and the completions`()
        async throws
    {
        let pages = try FileManager.default.contentsOfDirectory(
            atPath: Repository.root.appendingPathComponent("Docs/man").path)
        let helpers = CommandTable.all.compactMap { $0.calledAs?.description }
        var expected = Set(
            [
                "usr/bin/latchkey", "usr/lib/latchkey/latchkey-keyring", "usr/share/lintian/overrides/latchkey",
                "usr/share/xdg-desktop-portal/portals/latchkey.portal",
                "usr/share/doc/latchkey/changelog.gz", "usr/share/doc/latchkey/copyright",
                "usr/share/doc/latchkey/versions.md.gz",
                "usr/share/bash-completion/completions/latchkey", "usr/share/zsh/vendor-completions/_latchkey",
                "usr/share/fish/vendor_completions.d/latchkey.fish",
                "usr/lib/systemd/system/latchkey-credentials.socket",
                "usr/lib/systemd/system/latchkey-credentials@.service",
                "usr/lib/systemd/user/latchkey-check.service", "usr/lib/systemd/user/latchkey-check.timer",
            ] + pages.map { "usr/share/man/man\($0.suffix(1))/\($0).gz" })
        for name in helpers where name != "keyring" {
            expected.formUnion(["usr/bin/\(name)", "usr/share/man/man1/\(name).1.gz"])
        }
        // Python's package has that name.
        expected.insert("usr/lib/latchkey/helpers/keyring")
        let made = try await Self.made.value
        let listed = try await Program("dpkg-deb").run(["--contents", made.file]).successful("dpkg-deb").outputText
        // Mode, owner, size, date, time, name, and where a link leads.
        let entries = listed.split(separator: "\n").map { $0.split(separator: " ", omittingEmptySubsequences: true) }
        let files = entries.filter { !$0[0].hasPrefix("d") }.map { String($0[5].dropFirst(2)) }
        #expect(Set(files) == expected)
        for entry in entries {
            #expect(entry[1] == "root/root" && entry[3] == "2025-11-23", "\(entry)")
            #expect(["drwxr-xr-x", "-rwxr-xr-x", "-rw-r--r--", "lrwxrwxrwx"].contains(entry[0]), "\(entry)")
        }
        for name in helpers {
            let found = files.first { $0.hasSuffix("/\(name)") }.map { "\(made.root)/\($0)" } ?? name
            #expect(
                URL(fileURLWithPath: found).resolvingSymlinksInPath().path
                    == URL(fileURLWithPath: "\(made.root)/usr/bin/latchkey").resolvingSymlinksInPath().path)
        }
        let shells = [
            ("bash", "bash-completion/completions/latchkey"), ("zsh", "zsh/vendor-completions/_latchkey"),
            ("fish", "fish/vendor_completions.d/latchkey.fish"),
        ]
        for (shell, path) in shells {
            let written = try await BuiltProducts.latchkey().run(["completions", shell]).successful(shell).output
            #expect(try Array(Data(contentsOf: URL(fileURLWithPath: "\(made.root)/usr/share/\(path)"))) == written)
        }
    }

    @Test func `the installed parts work together`() async throws {
        let made = try await Self.made.value
        let directory = try TestDirectory()
        let environment = try directory.environment()
        let latchkey = try Program("\(made.root)/usr/bin/latchkey")
        #expect(try await latchkey.run(["provider", "list"], environment: environment).status == 0)
        let git = try Program("\(made.root)/usr/bin/git-credential-latchkey")
        #expect(try await git.run(["capability"], environment: environment).outputText.hasPrefix("version 0\n"))
    }

    @Test func `systemd accepts the units unchanged`() async throws {
        let made = try await Self.made.value
        let run = try await Program("systemd-analyze").run([
            "verify", "--root=\(made.root)", "--recursive-errors=no", "--man=no", made.units + ".socket",
            made.units + "@.service",
        ])
        #expect(run.status == 0 && run.errorText.isEmpty, "\(run.errorText)")
    }

    /// By the commands of Docs/HowTo/server.md; systemd's part is played.
    @Test func `a unit gets a secret of the vault through the installed units`() async throws {
        let made = try await Self.made.value
        let page = "Docs/HowTo/server.md"
        let socket = try String(contentsOfFile: made.units + ".socket", encoding: .utf8)
        let service = try String(contentsOfFile: made.units + "@.service", encoding: .utf8)
        let address = try #require(socket.firstMatch(of: /ListenStream=(.*)/)).output.1
        #expect(try Repository.text(page).contains("`LoadCredential=db-password:\(address)`"))

        let directory = try TestDirectory()
        let places = ["/var/lib/latchkey": directory / "state", "/etc/latchkey": directory / "etc"]
        func here(_ text: some StringProtocol) -> String {
            places.reduce(String(text)) { $0.replacing($1.key, with: $1.value) }
        }
        try directory.makeFolder("state")
        var environment = ["PATH": "\(made.root)/usr/bin:\(Program.searchPath)"]
        let variables = try #require(service.firstMatch(of: /Environment=(.*)/)).output.1
        for variable in here(variables).split(separator: " ") {
            let parts = variable.split(separator: "=", maxSplits: 1).map(String.init)
            environment[parts[0]] = parts[1]
        }
        // The key that LoadCredentialEncrypted= has unsealed.
        #expect(service.contains("\nLoadCredentialEncrypted=latchkey\n"))
        environment["CREDENTIALS_DIRECTORY"] = try directory.makeFolder("credentials")
        try directory.write("credentials/latchkey", (0..<32).map { $0 }, mode: 0o400)
        try directory.write("password", "s3cret")

        let block = try #require(try Repository.blocks("sh", in: page).first { $0.hasPrefix("as_latchkey()") })
        let commands = block.split(separator: "\n").drop { $0 != "}" }.dropFirst().dropLast()
        try #require(commands.count == 4)
        let root = geteuid() == 0 ? [] : ["unshare", "--map-root-user"]
        for command in commands {
            let words = root + ["sh", "-c", here(command).replacing("as_latchkey", with: "latchkey")]
            try await Program("env").run(words, environment: environment, folder: directory.path)
                .successful("\(command)")
        }
        let start = here(try #require(service.firstMatch(of: /ExecStart=(.*)/)).output.1)
        let answer = try await Program("env").run(
            root + [
                "python3",
                Repository.root.appendingPathComponent("Tests/Commands/HelperTests/Fixtures/unit_credential.py").path,
                "\(UInt64.random(in: 0 ... .max))/unit/report.service/db-password", "0",
            ] + start.replacing("/usr/bin/", with: "\(made.root)/usr/bin/").split(separator: " ").map(String.init),
            environment: environment, folder: directory.path)
        #expect(answer.status == 0 && answer.outputText == "s3cret", "\(answer.errorText)")
    }

    @Test func `each override gives its reason`() throws {
        let lines = try Repository.lines(".packaging/debian/latchkey.lintian-overrides").filter { !$0.isEmpty }
        #expect(lines.contains { !$0.hasPrefix("#") })
        for (before, line) in zip(["latchkey: "] + lines, lines) where !line.hasPrefix("#") {
            #expect(before.hasPrefix("# "), "\(line)")
        }
    }

    @Test(arguments: [["--programs"], ["--unknown", "x"], ["package"]])
    func `a wrong command line is refused`(_ arguments: [String]) async throws {
        let run = try await Program(Self.script).run(arguments)
        #expect(run.status == 64 && run.errorText.hasPrefix("usage: .packaging/deb"), "\(run.errorText)")
    }
}
