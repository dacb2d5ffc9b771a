import Foundation
import Testing
import TestServices

/// Keys, pushed requests, other devices and registration, from the command line against a real server.
struct ProtocolCommandTests {
    private typealias Setting = RealServerTests.Setting

    @Test func `processes use a key-bound session one after the other, with the server's nonces`()
        async throws
    {
        let setting = try await Setting(.vault, issuer: .nonce, options: ["--dpop"])
        let terminal = setting.terminal
        try await terminal.run(["sign-in", "work"])
        for _ in 0..<2 { #expect(try await setting.userinfo().contains("Alice Example")) }
        #expect(try await terminal.run(["list", "--all", "--json"]).outputText.contains("private-key"))
        // The access token is of no use to a tool, but no key goes with the ID token.
        #expect(try await terminal.run(["helper", "headers", "work"], expecting: 77).errorText.contains("with a key"))
        for words in [["helper", "kubectl", "work", "--id"], ["token", "work", "--id"]] {
            let answer = try await terminal.run(words, outputIsSecret: true)
            #expect(answer.outputText.contains("eyJ") && !answer.errorText.contains("only with its key"))
        }
        #expect(try await terminal.run(["run", "work", "--", "true"]).errorText.contains("only with its key"))
        // glewlwyd revokes nothing for a public client whose tokens are bound; the session goes all the same.
        let ended = try await terminal.run(["sign-out", "work"], expecting: 77)
        #expect(ended.errorText.contains("the session was deleted"))
        #expect(try await !terminal.run(["list", "--all", "--json"]).outputText.contains("latchkey:work"))
        try await Canaries(record: setting.person.record(), tokens: []).expectNone(in: terminal.transcript)
    }

    @Test func `a server that wants PAR gets pushed requests`() async throws {
        let setting = try await Setting(.vault, issuer: .pushed, options: ["--par"])
        try await setting.terminal.run(["sign-in", "work"])
        let record = try await setting.person.record()
        #expect(record.requested("request_uri") != nil)
        for name in ["state", "nonce", "code_challenge", "redirect_uri"] { #expect(record.requested(name) == nil) }
        #expect(try await setting.userinfo().contains("Alice Example"))
        try await Canaries(record: record, tokens: [setting.token()]).expectNone(in: setting.terminal.transcript)
    }

    @Test func `a server without PAR is refused if PAR is required`() async throws {
        let setting = try await Setting(.vault)
        let refused = try await setting.terminal.run(
            ["provider", "add", "other", "--issuer", setting.issuer, "--client-id", "native", "--par"], expecting: 76)
        #expect(refused.errorText.contains("pushed"))
    }

    /// The code that the terminal shows.
    private static func code(on terminal: PseudoTerminal) -> String? {
        terminal.shown.firstMatch(of: /[ ]{8}([A-Z0-9]{4}-[A-Z0-9]{4})/).map { String($0.output.1) }
    }

    @Test func `a person confirms on another device`() async throws {
        let setting = try await Setting(.vault)
        let terminal = try PseudoTerminal()
        let run = try await setting.terminal.run(["sign-in", "work", "--device"], on: terminal) { program in
            try await program.wait(for: "the code") { Self.code(on: terminal) != nil }
            let code = try #require(Self.code(on: terminal))
            #expect(terminal.shown.contains(setting.issuer + "/device"))
            let jar = try await setting.server.consent()
            try await Program("curl").run([
                "--silent", "--noproxy", "*", "--cookie", jar, "--output", "/dev/null",
                "\(setting.issuer)/device?code=\(code)&g_continue",
            ]).successful("curl")
        }
        #expect(run.status == 0, "\(run.errorText)\(terminal.shown)")
        #expect(terminal.shown.contains("Waiting for you"))
        #expect(try await setting.userinfo().contains("Alice Example"))
    }

    // MARK: - The desktop's own way

    @Test(arguments: ["com.example.latchkey:/callback", "relay://oauth/callback"])
    func `a response at a private-use scheme arrives through the desktop`(redirect: String) async throws {
        let scheme = String(redirect.prefix { $0 != ":" })
        let optIn = scheme.contains(".") ? [] : ["--any-scheme"]
        let setting = try await Setting(.vault, redirect: redirect, options: optIn)
        let terminal = setting.terminal
        if !optIn.isEmpty {
            let refused = try await terminal.run(["scheme", "add", scheme], expecting: 64)
            #expect(refused.errorText.contains("--any-scheme"))
            #expect(try await terminal.run(["scheme", "list"]).outputText.isEmpty)
        }
        // There is no terminal to paste at.
        let lost = try await terminal.run(["sign-in", "work"], expecting: 69)
        #expect(lost.errorText.contains("latchkey scheme add"))

        try await terminal.run(["scheme", "add", scheme] + optIn)
        #expect(try await terminal.run(["scheme", "list", "--json"]).outputText.contains("\"\(scheme)\""))
        let run = try await terminal.run(["sign-in", "work", "--timeout", "120"])
        #expect(run.errorText.contains("because a handler is installed for the redirect's scheme"))
        let record = try await setting.person.record()
        #expect(record.openedStatus == 0 && record.callback?.hasPrefix(redirect + "?") == true)
        #expect(record.startedWith.contains("/go/"), "the browser is started without the state on its command line")
        #expect(try await setting.userinfo().contains("Alice Example"))
        try await Canaries(record: record, tokens: [setting.token()]).expectNone(in: terminal.transcript)

        // The same response once more finds no sign-in.
        let late = try await terminal.run(["scheme", "receive", try #require(record.callback)], expecting: 1)
        #expect(late.errorText.contains("no sign-in waits"))
        try await terminal.run(["scheme", "remove", scheme])
        #expect(try await terminal.run(["scheme", "list", "--json"]).outputText.contains("[]"))
        try await terminal.run(["scheme", "remove", scheme], expecting: 1)
    }

    @Test func `control-C while the person is away ends the sign-in with 130 and leaves nothing`() async throws {
        let setting = try await Setting(.vault)
        let terminal = try PseudoTerminal()
        let run = try await setting.terminal.run(["sign-in", "work", "--device"], on: terminal) { program in
            try await program.wait(for: "the countdown") { terminal.shown.contains("Waiting for you") }
            terminal.type("\u{3}")
        }
        #expect(run.status == 130, "\(run.errorText)\(terminal.shown)")
        #expect(terminal.echoes)
        #expect(try await !setting.terminal.run(["list", "--all", "--json"]).outputText.contains("latchkey:work"))
    }

    @Test func `an unregistered client registers itself, and the server then knows it`() async throws {
        let setting = try await Setting(.vault)
        // The server takes each registered client for one with a secret, and compares redirect URIs with their ports.
        let added = try await setting.terminal.run([
            "provider", "add", "mine", "--issuer", setting.issuer, "--register", "--scope", "openid",
        ])
        #expect(added.errorText.contains(/registered the redirect URI http:\/\/127\.0\.0\.1:6[0-9]{4}\//))
        let listing = try await setting.terminal.run(["provider", "list", "--json"]).outputText
        #expect(!listing.contains("to-be-registered"))
        try await setting.terminal.run(["sign-in", "mine"])
        #expect(try await setting.person.record().responded("code") != nil)
    }
}
