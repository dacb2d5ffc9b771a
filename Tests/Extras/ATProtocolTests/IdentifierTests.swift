import LatchkeyHTTP
import LatchkeySecrets
import Testing
import TestSecrets

@testable import LatchkeyATProtocol

/// Handles, DIDs and the documents about them, read strictly.
struct IdentifierTests {
    @Test(arguments: [
        "alice.test", "a.co", "xn--ls8h.test", "8.cn", "a-b.c-d.example.org", "Alice.Example.ORG",
        String(repeating: "a", count: 63) + ".org",
    ])
    func `a handle is a domain name, kept in lower case`(text: String) throws {
        #expect(try ATProtocolHandle(text).text == text.lowercased())
    }

    @Test(arguments: [
        "", "alice", "@alice.test", ".alice.test", "alice..test", "alice.test.", "-a.test", "a-.test", "al_ice.test",
        "alice.0rg", "alice.local", "alice.localhost", "alice.invalid", "alice.onion", "127.0.0.1", "\u{E9}.test",
        "alice.test/x", "alice.test:80", String(repeating: "a", count: 64) + ".org",
        Array(repeating: "abcdefg", count: 32).joined(separator: ".") + ".org",
    ])
    func `an invalid handle is refused, not repaired`(text: String) {
        #expect(throws: ATProtocolError(.invalidHandle)) { try ATProtocolHandle(text) }
    }

    @Test func `a DID is of one of two methods`() throws {
        #expect(try DID("did:plc:ewvi7nxzyoun6zhxrhs64oiz").method == .plc)
        #expect(try DID("did:web:alice.test").method == .web(host: "alice.test", port: nil))
        #expect(try DID("did:web:localhost%3A8080").method == .web(host: "localhost", port: 8080))
        #expect(try DID("did:web:localhost").method == .web(host: "localhost", port: nil))
    }

    @Test(arguments: [
        "", "did:", "did:plc:", "did:plc:ewvi7nxzyoun6zhxrhs64oi", "did:plc:EWVI7NXZYOUN6ZHXRHS64OIZ",
        "did:plc:ewvi7nxzyoun6zhxrhs64oi1", "did:key:z6Mk", "did:web:", "did:web:alice.test:path", "did:web:Alice.test",
        "did:web:alice.test%3A8080", "did:web:localhost:8080", "did:web:localhost%3a80", "did:web:localhost%3A0",
        "did:web:localhost%3A080", "did:web:localhost%3A99999", "did:web:127.0.0.1", "did:web:alice.test/x",
        "did:web:alice.test#x", "DID:plc:ewvi7nxzyoun6zhxrhs64oiz",
    ])
    func `any other DID is refused`(text: String) {
        #expect(throws: ATProtocolError(.invalidDID)) { try DID(text) }
    }

    // MARK: - Documents

    private static let did = "did:plc:ewvi7nxzyoun6zhxrhs64oiz"
    private static let service =
        ##"{"id":"#atproto_pds","type":"AtprotoPersonalDataServer","serviceEndpoint":"https://pds.test"}"##

    private func read(_ text: String) throws -> DIDDocument {
        try DIDDocument(parsing: Secret.test(text), of: DID(Self.did))
    }

    @Test func `a document names the handle and the account's own server`() throws {
        let others = ##"{"id":"#other","type":"X","serviceEndpoint":{"a":1}},"##
        let names = ##""alsoKnownAs":["https://x.test","at://alice.test","at://bob.test"]"##
        let document = try read(##"{"id":"\##(Self.did)",\##(names),"service":[\##(others)\##(Self.service)]}"##)
        #expect(document.claimedHandle?.text == "alice.test")
        #expect(document.personalServer.origin == "https://pds.test")
        let whole = Self.service.replacing("\"#", with: "\"\(Self.did)#")
        #expect(try read(##"{"id":"\##(Self.did)","service":[\##(whole)]}"##).claimedHandle == nil)
        let first = ##""alsoKnownAs":["at://not a handle","at://alice.test"]"##
        #expect(try read(##"{"id":"\##(Self.did)",\##(first),"service":[\##(Self.service)]}"##).claimedHandle == nil)
    }

    @Test(
        arguments: [
            ("", .notJSON), ("[]", .notJSON), ("{}", .notThisDID), (##"{"id":"did:web:a.test"}"##, .notThisDID),
            (##"{"id":7}"##, .notThisDID), (##"{"id":"DID"}"##, .withoutPersonalServer),
            (##"{"id":"DID","alsoKnownAs":"at://a.test","service":[SERVICE]}"##, .malformedList),
            (##"{"id":"DID","alsoKnownAs":[7],"service":[SERVICE]}"##, .malformedList),
            (##"{"id":"DID","service":{}}"##, .malformedList), (##"{"id":"DID","service":[7]}"##, .malformedList),
            (##"{"id":"DID","service":[SERVICE,SERVICE]}"##, .repeatedPersonalServer),
            (
                ##"{"id":"DID","service":[{"id":"#atproto_pds","type":"X","serviceEndpoint":"https://a.test"}]}"##,
                .withoutPersonalServer
            ),
            (##"{"id":"DID","service":[SERVICE],"service":[]}"##, .notJSON),
            (String(repeating: "[", count: 40), .notJSON), (String(repeating: " ", count: 70_000), .tooLarge),
        ] as [(String, ATProtocolError.DocumentProblem)])
    func `a hostile or useless document is refused`(text: String, problem: ATProtocolError.DocumentProblem) {
        let text = text.replacing("DID", with: Self.did).replacing("SERVICE", with: Self.service)
        #expect(throws: ATProtocolError.document(problem)) { try read(text) }
    }

    @Test(arguments: [
        "https://pds.test/path", "https://pds.test?x", "https://user@pds.test", "ftp://pds.test", "pds.test", "",
    ])
    func `an account's server is an origin`(endpoint: String) {
        let service = Self.service.replacing("https://pds.test", with: endpoint)
        #expect(throws: ATProtocolError.document(.malformedPersonalServer)) {
            try read(##"{"id":"\##(Self.did)","service":[\##(service)]}"##)
        }
    }

    // MARK: - Addresses

    @Test(arguments: [
        "http://pds.test", "https://127.0.0.1", "https://localhost", "https://10.0.0.1", "https://[::1]",
        "https://[fd00::1]", "https://2130706433", "https://0x7f.1", "https://127.1", "https://a.local",
        "https://pds", "https://a.internal",
    ])
    func `an account can't lead into this machine or a private network`(address: String) throws {
        let url = try HTTPURL(address)
        #expect(throws: ATProtocolError(.addressRefused)) { try NetworkReach.publicInternet.check(url) }
    }

    @Test func `in development a loopback address is accepted, and no other private one`() throws {
        try NetworkReach.publicInternet.check(HTTPURL("https://pds.test:8443"))
        try NetworkReach.development.check(HTTPURL("http://127.0.0.1:8080"))
        for address in ["http://pds.test", "https://10.0.0.1", "https://192.168.1.1"] {
            let url = try HTTPURL(address)
            #expect(throws: ATProtocolError(.addressRefused)) { try NetworkReach.development.check(url) }
        }
    }
}
