import Foundation
import FoundationNetworking
import LatchkeyFoundation
import LatchkeyHTTP
import LatchkeyTestServer
import Testing

/// Bodies that come from files and go into files.
struct FileTests {
    @Test(arguments: ["PUT", "POST"])
    func `a file is uploaded whole, and again after a refused token`(method: String) async throws {
        let echo = try Echo()
        let scene = try BridgeScene()
        let file = scene.folder.appendingPathComponent("upload")
        let content = String(repeating: "0123456789abcdef", count: 200_000)
        try Data(content.utf8).write(to: file)
        var request = URLRequest(url: echo.url("/upload"))
        request.httpMethod = method
        let (_, response) = try await scene.authenticator.upload(for: request, fromFile: file)
        #expect(status(response) == 200 && echo.seen.map(\.body) == [content])
        #expect(echo.seen.map(\.target) == ["\(method) /upload"])
        #expect(echo.seen.first?.fields["authorization"]?.hasPrefix("Bearer ") == true)

        let refusing = try Echo(status: 401)
        request.url = refusing.url("/upload")
        #expect(status(try await scene.authenticator.upload(for: request, fromFile: file).1) == 401)
        #expect(refusing.seen.map(\.body) == [content, content])
        #expect(refusing.seen[0].fields["authorization"] != refusing.seen[1].fields["authorization"])
    }

    @Test func `an unreadable file, or a second body, is refused before a prompt`() async throws {
        let scene = try BridgeScene()
        let missing = scene.folder.appendingPathComponent("missing")
        let request = try scene.request
        await #expect(throws: OAuthAuthenticator.Failure(.fileFailed(number: ENOENT))) {
            _ = try await scene.authenticator.upload(for: request, fromFile: missing)
        }
        let twice = {
            var request = request
            request.httpMethod = "POST"
            request.httpBody = Data("x".utf8)
            return request
        }()
        await #expect(throws: OAuthAuthenticator.Failure(.unsupportedRequest(.body))) {
            _ = try await scene.authenticator.upload(for: twice, fromFile: missing)
        }
        // A URLRequest is a GET unless it says otherwise: the response was said to be too large.
        let file = scene.folder.appendingPathComponent("file")
        try Data("x".utf8).write(to: file)
        await #expect(throws: OAuthAuthenticator.Failure(.unsupportedRequest(.body))) {
            _ = try await scene.authenticator.upload(for: request, fromFile: file)
        }
        await #expect(throws: OAuthAuthenticator.Failure(.fileFailed(number: EISDIR))) {
            _ = try await scene.authenticator.upload(for: request, fromFile: scene.folder)
        }
        #expect(scene.server.record.requests.isEmpty)
    }

    @Test func `a response is downloaded into a private file, which replaces the old one`()
        async throws
    {
        let scene = try BridgeScene()
        _ = try await scene.authenticator.authenticate()
        scene.server.switchOn(.hugeBody(byteCount: 3 << 20, .userInfo))
        let file = scene.folder.appendingPathComponent("download")
        try Data("old".utf8).write(to: file)
        let (data, response) = try await scene.authenticator.download(
            for: scene.request, to: file, maximumByteCount: 4 << 20)
        #expect(status(response) == 200 && data.isEmpty)
        #expect(try Data(contentsOf: file) == Data(repeating: 0x20, count: 3 << 20))
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try leftovers(scene) == ["download"])
    }

    @Test func `a response that is too large, refused or broken off leaves only the old file`() async throws {
        let scene = try BridgeScene()
        _ = try await scene.authenticator.authenticate()
        let file = scene.folder.appendingPathComponent("download")
        try Data("old".utf8).write(to: file)
        scene.server.switchOn(.hugeBody(byteCount: 1 << 20, .userInfo))
        let error = await #expect(throws: OAuthAuthenticator.Failure.self) {
            _ = try await scene.authenticator.download(for: scene.request, to: file, maximumByteCount: 1000)
        }
        #expect(error.map(URLRequestTests.network) == .bodyTooLarge)
        scene.server.switchOffAllFaults()
        scene.server.switchOn(.status(404, .userInfo))
        let (data, response) = try await scene.authenticator.download(
            for: scene.request, to: file, maximumByteCount: 1 << 20)
        #expect(status(response) == 404 && String(decoding: data, as: UTF8.self).contains("404"))
        scene.server.switchOffAllFaults()
        scene.server.switchOn(.cutConnection(.userInfo))
        await #expect(throws: OAuthAuthenticator.Failure.self) {
            _ = try await scene.authenticator.download(for: scene.request, to: file, maximumByteCount: 1 << 20)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == "old")
        #expect(try leftovers(scene) == ["download"])
    }

    @Test func `a folder that can't be written is an error with its number, before a prompt`() async throws {
        let scene = try BridgeScene()
        let file = scene.folder.appendingPathComponent("missing/download")
        await #expect(throws: OAuthAuthenticator.Failure(.fileFailed(number: ENOENT))) {
            _ = try await scene.authenticator.download(for: scene.request, to: file, maximumByteCount: 1000)
        }
        #expect(scene.server.record.requests.isEmpty)
    }

    @Test func `files can be sent over a URLSession alone`() async throws {
        let scene = try BridgeScene { $0.responses = CurlTransport() }
        await #expect(throws: OAuthAuthenticator.Failure(.unsupportedRequest(.file))) {
            _ = try await scene.authenticator.download(
                for: scene.request, to: scene.folder.appendingPathComponent("x"), maximumByteCount: 1000)
        }
        #expect(try leftovers(scene) == [])
    }

    private func leftovers(_ scene: BridgeScene) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scene.folder.path).filter { $0 != "leases" }
    }
}
