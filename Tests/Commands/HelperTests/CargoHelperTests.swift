import Foundation
import Testing
import TestServices

/// cargo asks a credential provider (its Credential Provider Protocol, version 1).
@Suite struct CargoHelperTests {
    @Test(arguments: HelperScene.Store.allCases)
    func `cargo logs in, reads with the token, and logs out`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let server = try await FixtureServer("cargo_registry.py", "a token")
        let work = try await scene.shell(
            """
            set -e
            mkdir -p home/.cargo && cd home
            cat > .cargo/config.toml <<END
            [registries.own]
            index = "sparse+http://$1/"
            credential-provider = ["cargo-credential-latchkey"]
            END
            ! cargo owner --registry own --list crate
            printf 'a token' | cargo login --registry own
            cargo owner --registry own --list crate
            latchkey list | grep -o 'cargo:.*token'
            cargo logout --registry own
            ! cargo owner --registry own --list crate
            ls -A .cargo
            """, server.host)
        #expect(work.status == 0, "\(work.errorText)")
        #expect(work.outputText.contains("ada (Ada)"))
        #expect(work.outputText.contains("cargo:sparse+http://\(server.host)/"))
        #expect(!work.outputText.contains("credentials.toml"))
        #expect(server.requests.contains("good /api/v1/crates/crate/owners"))
        #expect(!server.requests.contains { $0.hasPrefix("bad") })
    }

    private let registry = "\"registry\":{\"index-url\":\"sparse+https://crates.example/\",\"name\":\"own\"}"

    private func cargo(_ scene: HelperScene, _ line: String) async throws -> ProgramRun {
        try await scene.helper("cargo-credential-latchkey", "--cargo-plugin", input: line + "\n")
    }

    @Test func `each request is one line, and so is each response`() async throws {
        let scene = try await HelperScene()
        let hello = "{\"v\":[1]}\n"
        for (request, answer) in [
            (
                "\"kind\":\"get\",\"operation\":\"read\"",
                "{\"Err\":{\"kind\":\"not-found\",\"message\":\"no token is stored for this registry; run `cargo login`\",\"caused-by\":[]}}"
            ),
            ("\"kind\":\"login\",\"token\":\"Bearer abc\"", "{\"Ok\":{\"kind\":\"login\"}}"),
            (
                "\"kind\":\"get\",\"operation\":\"publish\",\"name\":\"x\",\"vers\":\"1\",\"cksum\":\"0\"",
                "{\"Ok\":{\"kind\":\"get\",\"token\":\"Bearer abc\",\"cache\":\"session\",\"operation_independent\":true}}"
            ),
            ("\"kind\":\"logout\"", "{\"Ok\":{\"kind\":\"logout\"}}"),
            (
                "\"kind\":\"dream\"",
                "{\"Err\":{\"kind\":\"operation-not-supported\",\"message\":\"Latchkey doesn't support this operation; add another credential provider to cargo's configuration\",\"caused-by\":[]}}"
            ),
        ] {
            let run = try await cargo(scene, "{\"v\":1,\(request),\(registry),\"args\":[]}")
            #expect(run.status == 0 && run.outputText == hello + answer + "\n" && run.errorOutput.isEmpty)
        }
    }

    @Test(arguments: ["", "junk", "{\"v\":2,\"kind\":\"get\"}", "{\"v\":1,\"kind\":\"get\",\"registry\":{}}"])
    func `an invalid request gets a response, with status 0`(_ line: String) async throws {
        let scene = try await HelperScene()
        let run = try await cargo(scene, line)
        #expect(run.status == 0 && run.outputText.hasPrefix("{\"v\":[1]}\n{\"Err\":{\"kind\":\"other\","))
    }

    @Test func `a refusal of the store is a response too`() async throws {
        let scene = try await HelperScene(misses: true)
        let run = try await cargo(scene, "{\"v\":1,\"kind\":\"get\",\"operation\":\"read\",\(registry)}")
        #expect(run.status == 0 && run.errorOutput.isEmpty)
        #expect(
            run.outputText.contains(
                "{\"Err\":{\"kind\":\"other\",\"message\":\"no vault at \(scene.directory.path)/nowhere; "))
    }

    @Test func `the helper asks at the terminal for a token that cargo doesn't have`() async throws {
        let scene = try await HelperScene()
        let terminal = try PseudoTerminal()
        let running = try Program(scene.directory / "bin/cargo-credential-latchkey").start(
            ["--cargo-plugin"], environment: scene.environment, terminal: terminal)
        running.send(
            Array("{\"v\":1,\"kind\":\"login\",\(registry),\"login-url\":\"https://crates.example/me\"}\n".utf8))
        try await terminal.waitForQuestion("Token for own", from: running)
        terminal.type("typed token\r")
        let run = try await running.finish()
        #expect(run.outputText.hasSuffix("{\"Ok\":{\"kind\":\"login\"}}\n"))
        #expect(run.errorText.contains("https://crates.example/me") && !terminal.shown.contains("typed token"))
        #expect(try await scene.latchkey("get", "cargo:sparse+https://crates.example/", "token") == "typed token")
    }

    @Test func `the helper reads the keyring items of cargo's own provider`() async throws {
        let scene = try await HelperScene(.secretService)
        let server = try await FixtureServer("cargo_registry.py", "theirs")
        let work = try await scene.shell(
            """
            set -e
            mkdir -p home/.cargo && cd home
            printf '[registries.own]\nindex = "sparse+http://%s/"\n' "$1" > .cargo/config.toml
            export CARGO_REGISTRIES_OWN_CREDENTIAL_PROVIDER=cargo:libsecret
            printf theirs | cargo login --registry own
            export CARGO_REGISTRIES_OWN_CREDENTIAL_PROVIDER=cargo-credential-latchkey
            cargo owner --registry own --list crate
            """, server.host)
        #expect(work.status == 0 && work.outputText.contains("ada (Ada)"), "\(work.errorText)")
        // Or it would be the token again.
        let logout = try await scene.shell(
            """
            cd home
            export CARGO_REGISTRIES_OWN_CREDENTIAL_PROVIDER=cargo-credential-latchkey
            printf mine | cargo login --registry own && cargo logout --registry own || exit 2
            cargo owner --registry own --list crate
            """)
        #expect(logout.status == 101 && logout.errorText.contains("no token found"), "\(logout.errorText)")
    }
}
