import Foundation
import Latchkey
import LatchkeyTestServer
import ProfileKit
import Testing

@Suite(.serialized) struct ProfileTests {
    @Test func `a person signs in once, and the next start finds the session`() async throws {
        let folder = try await Folder()
        let server = try LoopbackAuthorizationServer()
        defer { server.stop() }
        let first = try await profile(at: server, folder)
        #expect(try await first.account() == nil)
        #expect(try await first.signIn(presenting: .consenting()) == "octocat")

        let second = try await profile(at: server, folder)
        #expect(try await second.account() == "octocat")
        server.expireAccessTokens()
        let output = try FileHandle(forWritingTo: folder.file("output"))
        try await second.show(on: output.fileDescriptor)
        #expect(try String(contentsOf: folder.file("output"), encoding: .utf8).contains("octocat"))
        #expect(server.record.refreshes == 1)

        try await second.signOut()
        #expect(try await first.account() == nil && server.record.revocations > 0)
    }

    @Test func `a person who refuses is signed in nowhere`() async throws {
        let folder = try await Folder()
        let server = try LoopbackAuthorizationServer(AuthorizationServerConfiguration(consent: .page))
        defer { server.stop() }
        let profile = try await profile(at: server, folder)
        await #expect(throws: SignInError.self) { try await profile.signIn(presenting: .refusing()) }
        #expect(try await profile.account() == nil)
    }

    private func profile(at server: LoopbackAuthorizationServer, _ folder: Folder) async throws -> Profile {
        try await Profile(
            at: .issuer(Issuer(server.issuer), name: "test", clientID: "latchkey"), address: server.userInfoEndpoint,
            in: folder.environment, log: .disabled)
    }
}

/// A home of the test's own, with a vault in the place of the keyring.
private final class Folder {
    let path = NSTemporaryDirectory() + "profile-\(UUID().uuidString)"

    init() async throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try VaultKeyFile.create(at: path + "/key")
        _ = try await VaultStore.create(at: path + "/vault", unlockedBy: .keyFile(path + "/key"))
        _ = FileManager.default.createFile(atPath: path + "/output", contents: nil)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

    var environment: ProgramEnvironment {
        // `swift test` under TEST_STORE=secret-service uses the keyring of the session that it runs in.
        let store = ProcessInfo.processInfo.environment["TEST_STORE"] ?? "vault"
        return ProgramEnvironment(
            variables: [
                "LATCHKEY_STORE": store, "LATCHKEY_VAULT": path + "/vault", "LATCHKEY_KEY_FILE": path + "/key",
            ], home: path)
    }
}
