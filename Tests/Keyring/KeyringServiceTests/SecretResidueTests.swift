internal import Foundation
internal import Testing
internal import TestServices

/// What a secret leaves in the memory of the service once its client has it.
struct SecretResidueTests {
    @Test func `a secret leaves nothing in the service, whether its transfer is encrypted or plain`() async throws {
        let keyring = try await ServedKeyring(.vault)
        let service = try #require(keyring.service)
        let secrets = (0..<2).map { _ in (0..<600).map { _ in UInt8.random(in: 0x21...0x7E) } }
        // libsecret's sessions are encrypted.
        _ = try await keyring.session.secretTool(["store", "--label=x", "way", "encrypted"], input: secrets[0])
            .successful("store")
        #expect(try await keyring.session.secretTool(["lookup", "way", "encrypted"]).output == secrets[0])
        let text = String(decoding: secrets[1], as: UTF8.self)
        let run = try await Program("/usr/bin/python3").run(
            [
                TestData.folder().appendingPathComponent("call.py").path, "store-plain", "plain", "read-plain", "plain",
                "search",
            ],
            environment: keyring.session.environment, input: secrets[1])
        #expect(run.outputText.hasPrefix(text + "\n"), "\(run.errorText)")
        let places = try ProcessMemory.places(ofPiecesOf: secrets, in: service.pid)
        #expect(places == [[], []], "\(places)")
    }

    /// Each left the secret in GDBus's buffer.
    @Test func `a plain secret in a call that is refused leaves nothing in the service`() async throws {
        let keyring = try await ServedKeyring(.vault)
        let service = try #require(keyring.service)
        let secret = (0..<600).map { _ in UInt8.random(in: 0x21...0x7E) }
        let run = try await Program("/usr/bin/python3").run(
            [TestData.folder().appendingPathComponent("hostile.py").path, "refused"],
            environment: keyring.session.environment, input: secret)
        #expect(
            run.outputText.split(separator: "\n") == [
                "NoSession", "NoSuchObject", "InvalidArgs", "InvalidArgs", "InvalidArgs", "InvalidArgs",
                "NoSuchObject", "InvalidArgs", "UnknownMethod", "LimitsExceeded",
            ], "\(run.outputText) \(run.errorText)")
        let places = try ProcessMemory.places(ofPiecesOf: [secret], in: service.pid)
        #expect(places == [[]], "\(places)")
    }
}
