import Adopter
import Latchkey
import Logging
import Testing

/// swift-log's backend is a process's, so this is the only test that sets it.
@Suite struct SwiftLogProgramTests {
    @Test func `a program's own lines and its client's arrive, and no token does`() throws {
        let sink = MemoryLogSink()
        bootstrap(sink)
        var client = Logger(label: "http")
        client.logLevel = .debug
        let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
        let text = token.withExposedBytes { bytes in String(decoding: bytes.indices.map { bytes[$0] }, as: UTF8.self) }

        client.debug("> authorization: Bearer abcdefghi-123456789", metadata: ["ahc-request-id": "17"])
        client.debug("the server sent", metadata: ["body": "{\"a\": \"\(text)\"}"])
        charge(with: token, order: 17, logger: Logger(label: "shop"))

        let lines = sink.records.map { record in
            "\(record.category.logMessage): \(record.message)"
                + record.fields.filter { $0.name != "at" }.map { " \($0.name)=\($0.value)" }.joined()
        }
        #expect(
            lines == [
                "http: > authorization: (withheld) source=AdopterTests ahc-request-id=17",
                "swift-log: withheld a record, because it contained a secret in use",
                "shop: charged with a token of 43 bytes source=Latchkey category_=shop.orders order=17",
            ])
    }
}
