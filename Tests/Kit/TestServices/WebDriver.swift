internal import Foundation

/// One session of a browser under control: the commands of W3C's WebDriver, sent to chromedriver through curl.
struct WebDriver: Sendable {
    /// `http://127.0.0.1:PORT`, or with `/session/ID` behind it.
    let base: String

    /// What has no answer that matters.
    struct Nothing: Decodable, Sendable {
        init(from _: any Decoder) {}
    }

    private struct Answer<Value: Decodable>: Decodable {
        let value: Value
    }

    private struct Refusal: Decodable {
        let error: String
        let message: String
    }

    /// Sends one command, its parameters on standard input.
    ///
    /// - Throws: `ServiceFailure` with the browser's own words when it refuses.
    @discardableResult
    func call<Value: Decodable & Sendable>(
        _ method: String, _ path: String, _ parameters: [String: Any]? = nil, as _: Value.Type = Nothing.self
    ) async throws -> Value {
        var arguments = [
            "--silent", "--show-error", "--noproxy", "*", "--request", method, "--write-out", "\n%{http_code}",
        ]
        var body: [UInt8] = []
        if method == "POST" {
            body = [UInt8](try JSONSerialization.data(withJSONObject: parameters ?? [:]))
            arguments += ["--header", "Content-Type: application/json", "--data-binary", "@-"]
        }
        let run = try await Program("curl").run(arguments + [base + path], input: body)
        let output = try run.successful("WebDriver: \(method) \(path)").output
        let end = output.lastIndex(of: 10) ?? output.startIndex
        let answer = Data(output[..<end])
        guard output[end...].dropFirst().elementsEqual("200".utf8) else {
            let refusal = try? JSONDecoder().decode(Answer<Refusal>.self, from: answer).value
            let words = refusal.map { "\($0.error): \($0.message)" } ?? String(decoding: output, as: UTF8.self)
            throw ServiceFailure("WebDriver: \(method) \(path): \(words)")
        }
        return try JSONDecoder().decode(Answer<Value>.self, from: answer).value
    }

    /// A command of the browser's own developer tools (Chrome DevTools Protocol).
    func tool(_ name: String, _ parameters: [String: Any]) async throws {
        try await call("POST", "/goog/cdp/execute", ["cmd": name, "params": parameters])
    }
}
