import Foundation
import Testing

/// The secrets of a sign-in that a test could get hold of, to be searched for in everything that was said.
struct Canaries {
    private var secrets: [(name: String, bytes: [UInt8])] = []

    init(record: Person.Record, tokens: [[UInt8]], more: [String: [UInt8]] = [:]) throws {
        secrets = tokens.map { ("a token", $0) } + more.map { ($0.key, $0.value) }
        for (name, text) in [
            ("state", record.asked("state")), ("nonce", record.asked("nonce")), ("code", record.answered("code")),
            ("state", record.answered("state")), ("the address to start with", record.startedWith),
        ] {
            if let text { secrets.append((name, Array(text.utf8))) }
        }
        try #require(secrets.count >= 4)
        for secret in secrets { try #require(secret.bytes.count >= 16, "\(secret.name) is too short to search for") }
    }

    /// Each secret is searched as it is, as base64 and percent-encoded.
    func expectNone(in transcript: [UInt8], sourceLocation: SourceLocation = #_sourceLocation) throws {
        let said = Data(transcript)
        try #require(said.count > 500, "there is nothing to search in")
        for (name, bytes) in secrets {
            let encoded =
                String(decoding: bytes, as: UTF8.self)
                .addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            for form in [Data(bytes), Data(bytes).base64EncodedData().dropLast(4), Data(encoded.utf8)] {
                #expect(said.range(of: form) == nil, "\(name) was said", sourceLocation: sourceLocation)
            }
        }
    }
}
