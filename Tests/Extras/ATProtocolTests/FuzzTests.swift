import Foundation
import LatchkeyHTTP
import LatchkeyLog
import LatchkeyOAuth
import LatchkeySecrets
import Testing
import TestServices

@testable import LatchkeyATProtocol

/// Parsers of what strangers send, given thousands of damaged samples. The seed is fixed: a failure names the input and
/// comes back. `LATCHKEY_LONG=1` makes it fifty times as many, from another seed each time.
@Suite struct FuzzTests {
    private static let count = runsLong ? 1_000_000 : 20_000
    private static let seed: UInt64 = runsLong ? UInt64.random(in: 0 ... .max) : 0x6C61_7463_686B_6579

    private struct Violation: Error {}

    /// Expects some inputs to be accepted and some to be refused: else the check shows nothing.
    private func fuzz(
        _ samples: [[UInt8]], words: [String], check: (_ input: [UInt8]) throws -> Bool
    ) async throws {
        var mutator = Mutator(seed: Self.seed, samples: samples, words: words.map { Array($0.utf8) })
        var accepted = 0
        for number in 0..<Self.count {
            if number % 1000 == 0 { await Task.yield() }
            let input = mutator.next()
            do {
                if try check(input) { accepted += 1 }
            } catch {
                Issue.record("seed \(Self.seed), input \(input): \(error)")
                return
            }
        }
        #expect(accepted > Self.count / 100 && accepted < Self.count)
    }

    private static let jsonWords = [
        "{", "}", "[", "]", ",", ":", "\"", "\\u0000", "null", "true", "\"id\":", "\"service\":[", "#atproto_pds",
        "at://", "https://", "http://127.0.0.1", "[[[[[[[[[[", "did:plc:", "\u{202E}", "?", "/",
    ]
    private static let did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"

    @Test func `an accepted DID document is the account's, and leads to an origin`() async throws {
        let did = try DID(Self.did)
        let text = ##"""
            {"id":"\##(Self.did)","alsoKnownAs":["at://alice.test"],"service":[{"id":"#atproto_pds",
            "type":"AtprotoPersonalDataServer","serviceEndpoint":"https://pds.test"}]}
            """##
        try await fuzz([Array(text.utf8)], words: Self.jsonWords) { input in
            guard let document = try? DIDDocument(parsing: Secret(copying: input.span), of: did) else { return false }
            let server = document.personalServer
            guard document.did == did, server.path == "/", server.query == nil else { throw Violation() }
            if let handle = document.claimedHandle, try ATProtocolHandle(handle.text) != handle { throw Violation() }
            return true
        }
    }

    @Test func `resource metadata that is accepted is the server's, and names one origin`() async throws {
        let server = try HTTPURL("https://pds.test")
        let text = #"{"resource":"https://pds.test","authorization_servers":["https://id.test"]}"#
        try await fuzz([Array(text.utf8)], words: Self.jsonWords) { input in
            guard let metadata = try? ResourceMetadata(parsing: Secret(copying: input.span), of: server) else {
                return false
            }
            let issuer = try HTTPURL(metadata.authorizationServer.text)
            guard issuer.origin == metadata.authorizationServer.text, issuer.isConfidential else { throw Violation() }
            return true
        }
    }

    @Test func `accepted client metadata is the client's, and requires bound tokens`() async throws {
        let id = "https://app.test/client.json"
        let text = #"""
            {"client_id":"https://app.test/client.json","application_type":"native","dpop_bound_access_tokens":true,
            "grant_types":["authorization_code","refresh_token"],"response_types":["code"],
            "redirect_uris":["http://127.0.0.1/callback"],"scope":"atproto"}
            """#
        try await fuzz([Array(text.utf8)], words: Self.jsonWords) { input in
            guard let document = try? ClientDocument(parsing: Secret(copying: input.span), of: id) else { return false }
            guard document.clientID == id, !document.redirects.isEmpty, document.scopes.contains("atproto") else {
                throw Violation()
            }
            return true
        }
    }

    @Test func `a DNS message of any form is read to its end, and in bounds`() async throws {
        let name = "_atproto.alice.test"
        let samples = [
            NameServer.message(number: 7, name: name, texts: [["did=", Self.did]]),
            NameServer.message(number: 7, name: name, texts: [["a"], ["b", "c"], []]),
        ]
        try await fuzz(samples, words: ["\u{C0}\u{0C}", "did=", "_atproto", "\u{10}"]) { input in
            guard let response = try? TextRecordResponse(input, about: name) else { return false }
            guard response.texts.count <= TextRecordResponse.maximumRecordCount,
                response.texts.allSatisfy({ $0.utf8.count <= 3 * TextRecordResponse.maximumTextByteCount })
            else { throw Violation() }
            return true
        }
    }

    @Test func `an accepted handle or DID stays unchanged`() async throws {
        let samples = ["alice.test", Self.did, "did:web:alice.test", "did:web:localhost%3A8080"].map { Array($0.utf8) }
        let words = [".", "-", "%3A", ":", "/", "#", "@", "did:", "did:web:", "xn--", "\u{202E}", "A", "127.0.0.1"]
        try await fuzz(samples, words: words) { input in
            let text = String(decoding: input, as: UTF8.self)
            guard let identifier = try? AccountIdentifier(text) else { return false }
            let name =
                switch identifier {
                case .handle(let handle): handle.logMessage.text
                case .did(let did): did.logMessage.text
                }
            guard name.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), try AccountIdentifier(name) == identifier
            else { throw Violation() }
            return true
        }
    }
}
