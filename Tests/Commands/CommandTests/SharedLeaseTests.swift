import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// A cron job, `su`, ssh without a session and a desktop's terminal are one user with one session: they make one
/// refresh.
///
/// Their leases were below `$XDG_RUNTIME_DIR`, or else in the state directory, so that each took a lock of its own:
/// both refreshed, the server saw a refresh token twice, and revoked the family.
@Suite struct SharedLeaseTests {
    private let scene: RefreshScene

    init() async throws { scene = try await RefreshScene() }

    /// What other environments have in common: where the vault is, and what opens it.
    private var bare: [String: String] {
        [
            "LATCHKEY_STORE": "vault", "LATCHKEY_VAULT": scene.vault, "LATCHKEY_KEY_FILE": scene.directory / "key",
            "LATCHKEY_CONFIG": scene.directory / "config/latchkey",
        ]
    }

    @Test func `processes of one user in different environments make one refresh`() async throws {
        scene.server.expireAccessTokens()
        var withoutRuntime = scene.environment
        withoutRuntime["XDG_RUNTIME_DIR"] = nil
        var otherRuntime = scene.environment
        otherRuntime["XDG_RUNTIME_DIR"] = try scene.directory.makeFolder("other-run")
        // A home that nobody can write to, not even root.
        let readOnlyHome = bare.merging(["HOME": "/proc/1"]) { $1 }
        let otherHome = bare.merging(["HOME": try scene.directory.makeFolder("other-home")]) { $1 }
        let environments = [scene.environment, withoutRuntime, otherRuntime, bare, readOnlyHome, otherHome]
        let programs = try (environments + environments).map { try scene.start($0) }
        for program in programs {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(scene.server.record.refreshes == 1 && scene.server.record.replays == 0)
    }

    @Test func `a vault has the same leases under another path`() async throws {
        scene.server.expireAccessTokens()
        let link = scene.directory / "link"
        try FileManager.default.createSymbolicLink(
            atPath: link, withDestinationPath: (scene.vault as NSString).deletingLastPathComponent)
        let linked = bare.merging(["LATCHKEY_VAULT": link + "/vault"]) { $1 }
        let programs = try [scene.environment, linked, scene.environment, linked].map { try scene.start($0) }
        for program in programs {
            let run = try await program.finish()
            #expect(run.status == 0 && run.outputText.contains("octocat"), "\(run.errorText)")
        }
        #expect(scene.server.record.refreshes == 1 && scene.server.record.replays == 0)
    }

    /// The mark was in the runtime directory, which a restart empties.
    @Test func `the mark of an interrupted refresh is in the vault, and survives everything else`() async throws {
        scene.server.expireAccessTokens()
        scene.server.switchOn(.heldResponse(.token))
        let first = try scene.start(scene.environment)
        try await first.wait(for: "the server's refresh") { scene.server.record.refreshes == 1 }
        first.signal(SIGKILL)
        _ = try await first.finish()
        scene.server.switchOffAllFaults()
        for folder in ["run", "state", "cache"] { try FileManager.default.removeItem(atPath: scene.directory / folder) }
        let run = try await scene.start(bare).finish()
        #expect(run.status == 77 && run.errorText.contains("[sign-in.refresh-lost]"), "\(run.errorText)")
    }
}
