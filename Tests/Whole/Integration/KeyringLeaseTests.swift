import Foundation
import LatchkeyTestServer
import Testing
import TestServices

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
