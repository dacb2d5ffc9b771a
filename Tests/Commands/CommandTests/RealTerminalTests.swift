internal import Foundation
internal import LatchkeyTestServer
internal import Testing
internal import TestServices

/// What a person sees at a terminal of their size: in tmux, which has a screen, from the smallest to a wide one.
@Suite struct RealTerminalTests {
    struct Size: Sendable, CustomTestStringConvertible {
        let columns: Int
        let rows: Int
        /// What turns colours off.
        let plain: String

        var testDescription: String { "\(columns)×\(rows), \(plain)" }

        /// Both ways turn colours off at 40×10, because most lines are cut or wrapped there.
        static let all = [
            Size(columns: 40, rows: 10, plain: "NO_COLOR=1"), Size(columns: 40, rows: 10, plain: "TERM=dumb"),
            Size(columns: 80, rows: 24, plain: "TERM=dumb"), Size(columns: 200, rows: 50, plain: "NO_COLOR=1"),
        ]
    }

    private static let passphrase = "orbit lantern cactus velvet"
    private static let secret = "hunter2hunter2"

    /// A home with a vault, a terminal, and a server to sign in at.
    private struct Scene {
        let directory: TestDirectory
        let server: LoopbackAuthorizationServer
        let tmux: Tmux
        let size: Size

        init(_ size: Size) async throws {
            self.size = size
            directory = try TestDirectory()
            server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(offersDeviceGrant: true))
            var environment = try await PassphraseVault.cheap(directory.environment())
            environment["PATH"] = try BuiltProducts.searchPath()
            environment["LATCHKEY_STORE"] = "vault"
            environment["EDITOR"] = "sed -i s/2$/3/"
            tmux = try await Tmux(columns: size.columns, rows: size.rows, in: directory, environment: environment)
            let latchkey = try BuiltProducts.latchkey()
            try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
                .successful("vault init")
            for account in ["ada", "somebody-with-a-long-name@example.org"] {
                try await latchkey.run(
                    ["set", "a-service-with-a-long-name.example.org", account], environment: environment,
                    input: Array(RealTerminalTests.secret.utf8)
                ).successful("set")
            }
        }

        /// Starts a command as a person does who wants no colours.
        func start(_ command: String) async throws -> Tmux.Screen {
            try await tmux.start("export \(size.plain); latchkey \(command)")
        }

        /// Looks at all that a command showed.
        func check(_ screen: Tmux.Screen, _ command: String, allowing escape: String = "") async throws {
            for line in try await screen.lines() {
                if let cut = cut(in: line) { Issue.record("\(size) \(command): \"\(cut)\" is cut in \"\(line)\"") }
            }
            let bytes = String(decoding: try screen.bytes(), as: UTF8.self)
            #expect(
                !bytes.replacing(escape, with: "").contains("\u{1B}"), "\(size) \(command): \(bytes.debugDescription)")
            let text = try await screen.text()
            for secret in [RealTerminalTests.secret, RealTerminalTests.passphrase, "orbit"] {
                #expect(!text.contains(secret) && !bytes.contains(secret), "\(size) \(command)")
            }
        }

        /// The word that the terminal's edge cuts. Messages are broken by it alone, and so is a word that no line or cell
        /// has room for.
        func cut(in line: String) -> Substring? {
            if line.hasPrefix("latchkey: ") { return nil }
            let line = Array(line)
            for edge in stride(from: size.columns, to: line.count, by: size.columns)
            where line[edge] != " " && line[edge - 1] != " " {
                let start = line[..<edge].lastIndex(of: " ").map { $0 + 1 } ?? 0
                let end = line[edge...].firstIndex(of: " ") ?? line.count
                let isFirst = line[..<start].suffix(2).allSatisfy { $0 == " " }
                if !isFirst { return Substring(String(line[start..<end])) }
            }
            return nil
        }
    }

    @Test(arguments: Size.all) func `questions are complete, and their answers hidden`(_ size: Size) async throws {
        let scene = try await Scene(size)
        try await PassphraseVault.make(
            Self.passphrase.utf8, at: scene.directory / "third/vault", in: scene.directory.environment())
        let dialogs: [(command: String, status: Int32, answers: [(question: String, answer: String)])] = [
            (
                "vault init --vault second/vault", 0,
                [
                    ("New passphrase of the vault:", "orbit"), ("Use the short one anyway? [y/N]:", "n"),
                    ("[y/N]: New passphrase of the vault:", Self.passphrase),
                    ("Repeat it:", Self.passphrase),
                ]
            ),
            ("vault unlock --vault second/vault --no-prompt", 77, []),
            (
                "vault slots --vault third/vault", 0, [("Passphrase of the vault:", Self.passphrase)]
            ),
            (
                "set a-service-with-a-long-name.example.org ada", 0,
                [
                    ("Replace the secret for a-service-with-a-long-name.example.org/ada? [y/N]:", "y"),
                    ("Secret for a-service-with-a-long-name.example.org/ada:", Self.secret),
                    ("Repeat it:", Self.secret),
                ]
            ),
            ("set a-service-with-a-long-name.example.org ada", 77, [("[y/N]:", "n")]),
        ]
        for dialog in dialogs {
            let screen = try await scene.start(dialog.command)
            for (question, answer) in dialog.answers {
                try await screen.waitUntilShown(question)
                try await screen.type(answer)
            }
            let end = try await screen.finish()
            #expect(end.status == dialog.status, "\(dialog.command): \(end.text)")
            try await scene.check(screen, dialog.command)
        }
    }

    @Test(arguments: Size.all) func `tables, help and errors are whole`(_ size: Size) async throws {
        let scene = try await Scene(size)
        let commands: [(String, Int32)] = [
            ("list", 0), ("search ada", 0), ("vault status", 0), ("vault slots", 0), ("provider list --available", 0),
            ("", 64), ("help", 0), ("help vault", 0), ("help sign-in", 0), ("help vault import", 0),
            ("help request", 0),
            ("help exit-status", 0), ("help environment", 0), ("help completions", 0),
            ("get a-service-with-a-long-name.example.org nobody", 1), ("doctor", 0),
            ("edit a-service-with-a-long-name.example.org ada", 0),
        ]
        for (command, status) in commands {
            let screen = try await scene.start(command)
            let end = try await screen.finish()
            #expect(end.status == status, "\(command): \(end.text)")
            #expect(try await !screen.text().isEmpty)
            try await scene.check(screen, command)
        }
    }

    @Test(arguments: Size.all) func `a sign-in by paste and a device sign-in guide the person`(_ size: Size)
        async throws
    {
        let scene = try await Scene(size)
        let named = "--issuer \(scene.server.issuer) --client-id latchkey --scope openid"
        let curl = ["--silent", "--fail", "--noproxy", "*", "--output", "/dev/null"]

        let paste = try await scene.start("sign-in pasted --paste \(named)")
        try await paste.waitUntilShown("Address (it stays hidden):")
        let address = try #require(try await paste.lines().first { $0.hasPrefix("http") })
        let response = try await Program("curl").run(curl + ["--write-out", "%{redirect_url}", address])
            .successful("the browser").outputText
        try await paste.type(response)
        let pasteEnd = try await paste.finish()
        #expect(pasteEnd.status == 0, "\(pasteEnd.text)")
        try await paste.waitUntilShown("signed in at pasted as octocat")
        try await scene.check(paste, "--paste")
        // What the person pasted can be exchanged for a session.
        let code = try #require(response.firstMatch(of: /code=([^&]+)/)).output.1
        #expect(try await !paste.text().contains(code))

        let device = try await scene.start("sign-in device --device \(named)")
        try await device.waitUntilShown("Control-C to give up.")
        // Below each other, apart from the text.
        #expect(try await device.lines().filter { $0.hasPrefix("        ") }.count == 2)
        let shown = try await device.lines().map { $0.trimmingCharacters(in: .whitespaces) }
        let page = try #require(shown.first { $0.hasPrefix("http") })
        let userCode = try #require(shown.first { $0.wholeMatch(of: /[A-Z0-9]+-[A-Z0-9]+/) != nil })
        try await Program("curl").run(curl + ["\(page)?user_code=\(userCode)"]).successful("the other device")
        let deviceEnd = try await device.finish()
        #expect(deviceEnd.status == 0, "\(deviceEnd.text)")
        try await scene.check(device, "--device")

        let accounts = try await scene.start("accounts")
        #expect(try await accounts.finish().status == 0)
        #expect(try await accounts.text().contains("octocat"))
        try await scene.check(accounts, "accounts")
    }

    @Test(arguments: Size.all) func `a terminal without sequences doesn't get the secret in one`(
        _ size: Size
    ) async throws {
        let scene = try await Scene(size)
        let screen = try await scene.start("get --clip a-service-with-a-long-name.example.org ada")
        if size.plain == "TERM=dumb" {
            #expect(try await screen.finish().status == 69)
            #expect(try await screen.text().contains("[clipboard.none]"))
            try await scene.check(screen, "get --clip")
        } else {
            try await screen.waitUntilShown("45 seconds do:")
            try await screen.type("")
            #expect(try await screen.finish().status == 0)
            // It is no colour, and tmux shows nothing of it.
            let encoded = Data(Self.secret.utf8).base64EncodedString()
            #expect(try await !screen.text().contains(encoded))
            let bytes = String(decoding: try screen.bytes(), as: UTF8.self)
            #expect(bytes.contains("\u{1B}]52;c;\(encoded)\u{7}") && bytes.contains("\u{1B}]52;c;\u{7}"))
        }
    }

    @Test func `colours are visible unless they are switched off, and a cut word is noticed`() async throws {
        let scene = try await Scene(Size(columns: 40, rows: 10, plain: "A=b"))
        let screen = try await scene.start("get example.org nobody")
        #expect(try await screen.finish().status == 1)
        #expect(try await screen.colouredText().contains("\u{1B}[1m\u{1B}[31merror:"))
        #expect(try screen.bytes().contains(0x1B))
        let cut = try await scene.tmux.start("echo 'this line is as long as forty columns, or longer'")
        #expect(try await cut.finish().status == 0)
        let line = try #require(try await cut.lines().first)
        #expect(scene.cut(in: line) == "or")
        #expect(scene.cut(in: "  \(String(repeating: "x", count: 60)) y") == nil)
    }
}
