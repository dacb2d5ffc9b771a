import LatchkeyHTTP
import LatchkeyOAuth
import LatchkeySignIn
import LatchkeyTestServer
import Testing

@testable import LatchkeyATProtocol

/// From a handle to a session and back out, against a network in the process that refuses what the profile forbids.
struct WholePathTests {
    @Test func `an account signs in by its handle, asks its own server, refreshes, and signs out`() async throws {
        let scene = try NetworkScene()
        let session = try await scene.signIn()
        #expect(session.account == "alice.test")
        #expect(session.subject == scene.network.did)
        #expect(try await scene.request() == 200)
        scene.clock.advance(seconds: 4000)
        #expect(try await scene.request() == 200)
        #expect(scene.record.refreshes == 1)
        #expect(try await scene.client.currentSession()?.subject == scene.network.did)
        let report = await scene.client.signOut()
        #expect(report.revocation == .revoked)
        #expect(report.deletion == .deleted)
        #expect(scene.record.revocations == 1)
        #expect(try await scene.items("session") == [])
        #expect(try await scene.items("private-key") == [])
        #expect(try await scene.client.currentSession() == nil)
        #expect(try scene.findings() == [])
    }
}
