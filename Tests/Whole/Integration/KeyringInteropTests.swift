import Foundation
import LatchkeyTestServer
import TestServices
import Testing

/// The command line and secret-tool on one real keyring, each reading what the other wrote.
struct KeyringInteropTests {
    /// Bytes that a C string, a line or a text would cut or change.
    private let binary: [UInt8] = (0...255).map { UInt8($0) } + Array("\nend\n".utf8)

    @Test func `secret-tool reads what latchkey saved, also after the daemon was restarted`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await latchkey(["set", "example.org", "ada"], session, input: Array("s3cret".utf8)).successful("set")
        let lookup = ["lookup", "service", "example.org", "username", "ada"]
        #expect(try await session.secretTool(lookup).outputText == "s3cret")
        try await session.restartDaemon()
        #expect(try await session.secretTool(lookup).outputText == "s3cret")
        #expect(try await latchkey(["get", "example.org", "ada"], session).outputText == "s3cret")
        let search = try await session.secretTool(["search", "--all", "service", "example.org"]).outputText
        #expect(search.contains("label = Password for 'ada' on 'example.org'"))
    }

    @Test func `latchkey reads, changes and deletes what secret-tool stored, also after a restart`() async throws {
        let session = try await PrivateSession(.unlocked)
        let item = ["service", "example.org", "username", "ada"]
        try await session.secretTool(["store", "--label=Mine"] + item, input: Array("first".utf8)).successful("store")
        #expect(try await latchkey(["get", "example.org", "ada"], session).outputText == "first")
        try await session.restartDaemon()
        #expect(try await latchkey(["get", "example.org", "ada"], session).outputText == "first")
        try await latchkey(["set", "example.org", "ada"], session, input: Array("second".utf8)).successful("set")
        let search = try await session.secretTool(["search", "--all"] + item)
        #expect(search.outputText.contains("secret = second"))
        #expect(search.outputText.contains("label = Mine"))
        #expect(search.outputText.split(separator: "\n").count { $0.hasPrefix("secret = ") } == 1)
        try await latchkey(["delete", "example.org", "ada"], session).successful("delete")
        #expect(try await session.secretTool(["lookup"] + item).status != 0)
    }

    @Test func `binary secrets cross the bus unchanged, both ways`() async throws {
        let session = try await PrivateSession(.unlocked)
        try await latchkey(["set", "example.org", "ours"], session, input: binary).successful("set")
        let ours = try await session.secretTool(["lookup", "service", "example.org", "username", "ours"])
        #expect(ours.output == binary)
        #expect(try await latchkey(["get", "example.org", "ours"], session).output == binary)
        let theirs = ["service", "example.org", "username", "theirs"]
        try await session.secretTool(["store", "--label=Theirs"] + theirs, input: binary).successful("store")
        #expect(try await latchkey(["get", "example.org", "theirs"], session).output == binary)
    }

    private func latchkey(
        _ arguments: [String], _ session: PrivateSession, input: [UInt8] = []
    ) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["--store", "secret-service"] + arguments, environment: session.environment, input: input)
    }
}

/// One user with one keyring, in environments that have nothing in common but the session bus.
@Suite struct KeyringLeaseTests {
    @Test func `processes that reach one keyring in different environments make one refresh`() async throws {
        let session = try await PrivateSession(.unlocked)
        let server = try LoopbackAuthorizationServer()
        var environment = session.environment
        environment["LATCHKEY_STORE"] = "secret-service"
        environment["LATCHKEY_CONFIG"] = try session.directory.makeFolder("configuration")
        environment["BROWSER"] = try session.directory.write(
            "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n", mode: 0o700
        )
        let latchkey = try BuiltProducts.latchkey()
        let provider = ["provider", "add", "work", "--issuer", server.issuer, "--client-id", "latchkey"]
        for arguments in [provider, ["sign-in", "work"]] {
            try await latchkey.run(arguments, environment: environment).successful(arguments[0])
        }
        server.expireAccessTokens()
        // As cron would, with what reaches the bus and the configuration.
        var bare: [String: String] = [:]
        for name in ["DBUS_SESSION_BUS_ADDRESS", "LATCHKEY_STORE", "LATCHKEY_CONFIG"] { bare[name] = environment[name] }
        var withoutRuntime = environment
        withoutRuntime["XDG_RUNTIME_DIR"] = nil
        let otherHome = bare.merging(["HOME": try session.directory.makeFolder("other-home")]) { $1 }
        let readOnlyHome = bare.merging(["HOME": "/proc/1"]) { $1 }
        let environments = [environment, bare, withoutRuntime, otherHome, readOnlyHome]
        let programs = try (environments + environments).map { environment in
            let program = try latchkey.start(
                ["request", "work", "GET", server.userInfoEndpoint, "--timeout", "120"], environment: environment)
            program.closeInput()
            return program
        }
        for program in programs {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(server.record.refreshes == 1 && server.record.replays == 0)
    }
}
