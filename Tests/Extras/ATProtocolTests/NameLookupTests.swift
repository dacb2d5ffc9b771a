import Foundation
import Testing
import TestServices

@testable import LatchkeyATProtocol

/// The DNS through the system's own resolver, against a name server of the test's, and its messages read in bounds.
struct NameLookupTests {
    @Test func `the system's resolver reads a record in pieces, and tells an absent name from a silent server`()
        async throws
    {
        let server = try NameServer { name in
            switch name {
            case "_atproto.alice.test": .texts([["did=did:plc:", "ewvi7nxzyoun6zhxrhs64oiz"], ["v=spf1 -all"]])
            case "_atproto.empty.test": .texts([])
            case "_atproto.broken.test": .failure
            default: .absent
            }
        }
        let names = SystemTextRecordLookup(server: "127.0.0.1", port: server.port)
        let texts = try await names.texts(of: "_atproto.alice.test")
        #expect(texts == ["did=did:plc:ewvi7nxzyoun6zhxrhs64oiz", "v=spf1 -all"])
        #expect(try await names.texts(of: "_atproto.empty.test") == [])
        #expect(try await names.texts(of: "_atproto.bob.test") == [])
        await #expect(throws: NameLookupError(.tryAgain)) { _ = try await names.texts(of: "_atproto.broken.test") }
        withExtendedLifetime(server) {}
    }

    @Test func `cancelling a lookup ends the wait`() async throws {
        let asked = AsyncStream.makeStream(of: Void.self)
        let server = try NameServer { _ in
            asked.continuation.yield()
            return .silence
        }
        let names = SystemTextRecordLookup(server: "127.0.0.1", port: server.port)
        let task = Task { () -> NameLookupError.Code? in
            do throws(NameLookupError) {
                _ = try await names.texts(of: "_atproto.alice.test")
                return nil
            } catch {
                return error.code
            }
        }
        for await _ in asked.stream { break }
        task.cancel()
        #expect(await task.value == .cancelled)
        withExtendedLifetime(server) {}
    }

    @Test(
        arguments: [
            [], [0, 0], Array(repeating: 0xFF, count: 64), Array(repeating: 0, count: 65_536),
        ] as [[UInt8]])
    func `an invalid DNS response is refused`(message: [UInt8]) {
        #expect(throws: NameLookupError(.malformedResponse)) { try TextRecordResponse(message, about: "a.test") }
    }

    @Test func `a response for another name, a loop of names, and too many records are refused`() throws {
        let name = "_atproto.alice.test"
        let good = NameServer.message(number: 7, name: name, texts: [["did=x"]])
        #expect(try TextRecordResponse(good, about: name).texts == ["did=x"])
        #expect(throws: NameLookupError.self) { try TextRecordResponse(good, about: "_atproto.bob.test") }
        var loop = good
        loop[12] = 0xC0
        loop[13] = 12
        #expect(throws: NameLookupError.self) { try TextRecordResponse(loop, about: name) }
        let many = NameServer.message(number: 7, name: name, texts: Array(repeating: ["a"], count: 65))
        #expect(throws: NameLookupError.self) { try TextRecordResponse(many, about: name) }
        for count in 0..<good.count {
            #expect(throws: NameLookupError.self) { try TextRecordResponse(Array(good.prefix(count)), about: name) }
        }
    }
}
