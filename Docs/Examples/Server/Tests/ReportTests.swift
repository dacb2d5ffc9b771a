import Foundation
import HTTPTypes
import Latchkey
import LatchkeyTestServer
import ReportKit
import Testing

@Suite struct ReportTests {
    /// The key is a file, or what systemd shows to the unit.
    @Test(arguments: [false, true])
    func `the job gets a token at night, and refreshes it once for two processes`(_ hasCredential: Bool) async throws {
        let folder = NSTemporaryDirectory() + "report-\(UUID().uuidString)"
        let files = FileManager.default
        try files.createDirectory(
            atPath: folder + "/credentials", withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        defer { try? files.removeItem(atPath: folder) }
        _ = files.createFile(
            atPath: folder + "/credentials/report", contents: Data((0..<32).map { _ in UInt8.random(in: 0...255) }),
            attributes: [.posixPermissions: 0o400])
        let environment = ProgramEnvironment(
            variables: hasCredential ? ["CREDENTIALS_DIRECTORY": folder + "/credentials"] : [:], home: folder)
        let server = try LoopbackAuthorizationServer()
        defer { server.stop() }
        let provider = try OAuthProvider.issuer(Issuer(server.issuer), name: "bank", clientID: "latchkey")
        func report() async throws -> Report {
            try await Report(in: folder, of: provider, environment: environment, log: .disabled)
        }

        try await Report.install(in: folder, environment: environment)
        #expect(files.fileExists(atPath: folder + "/key") != hasCredential)
        try await report().signIn(presenting: .consenting())
        server.expireAccessTokens()
        let address = try #require(URL(string: server.userInfoEndpoint))
        let request = HTTPRequest(
            method: .get, scheme: "http", authority: "127.0.0.1:\(server.port)", path: address.path)
        let (first, second) = (try await report(), try await report())
        async let one = first.run(request)
        async let other = second.run(request)
        #expect(try await [one, other] == [200, 200])
        #expect(server.record.refreshes == 1)
    }

    @Test func `a request that can't be sent as it is isn't sent`() {
        let request = HTTPRequest(method: .connect, scheme: "https", authority: "bank.example", path: "/")
        let hasOne = GuardedRequest(request) != nil
        #expect(!hasOne)
    }
}
