import Foundation
import LatchkeyTestServer
import Testing
import TestServices

/// A session whose access token has ended, and a process that may not write, or open few files: nothing is lost,
/// whatever it ends with, and it ends.
@Suite struct TightLimitTests {
    /// The statuses that the manual names, and none of a signal.
    private static let documented: Set<Int32> = [0, 69, 70, 73, 75, 76, 77, 78]

    /// With no room left the server had refreshed, the save failed, and the next call sent the spent token.
    @Test func `on a full disk nothing is requested of the server, and the session stays unchanged`() async throws {
        let scene = try await RefreshScene()
        scene.server.expireAccessTokens()
        let before = scene.server.record.requests[.token]
        let run = try await scene.start(limit: "-f 0").finish()
        #expect(run.status == 73 && run.errorText.contains("latchkey: hint: "), "\(run.status) \(run.errorText)")
        #expect(scene.server.record.requests[.token] == before)
        try await scene.expectSession("-f 0")
        #expect(scene.server.record.refreshes == 1)
    }

    /// With 16 the worker died by SIGILL between the server's response and the store; with 10 to 12 it hung and ignored
    /// SIGTERM.
    @Test func `with few file descriptors a refresh is made and kept, or refused`() async throws {
        let scene = try await RefreshScene()
        for count in [5, 6, 8, 9, 10, 11, 12, 14, 16, 20, 30, 34, 35, 36, 38, 40] {
            scene.server.expireAccessTokens()
            let program = try scene.start(limit: "-n \(count)")
            let run = try await program.finish(within: .seconds(60))
            #expect(Self.documented.contains(run.status), "-n \(count): \(run.status)\n\(run.errorText)")
            if run.status != 0 {
                #expect(run.errorText.contains("latchkey: error: "), "-n \(count): \(run.status)\n\(run.errorText)")
            }
            try await scene.expectSession("-n \(count), which ended with \(run.status): \(run.errorText)")
        }
    }
}
