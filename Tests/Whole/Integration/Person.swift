import Foundation
import TestServices

/// The person at the browser: what `BROWSER` starts, who signs in to glewlwyd and consents (Fixtures/browser).
struct Person {
    enum Answer: String { case consent, deny, close }

    /// What passed through the browser.
    struct Record: Decodable {
        let startedWith: String
        let authorization: String?
        let callback: String?
        let callbackStatus: Int?
        let pageStatus: Int?
        let page: String?
        /// How the desktop opened a callback that is none of the browser's.
        let openedStatus: Int?

        func requested(_ name: String) -> String? { Self.parameter(name, of: authorization) }
        func responded(_ name: String) -> String? { Self.parameter(name, of: callback) }

        private static func parameter(_ name: String, of url: String?) -> String? {
            url.flatMap { URLComponents(string: $0) }?.queryItems?.first { $0.name == name }?.value
        }
    }

    private let folder: String

    /// The value of `BROWSER`.
    var browser: String { folder + "/browser" }

    /// - Parameter authority: the PEM file that the browser trusts beside the system's.
    init(in directory: TestDirectory, answer: Answer = .consent, authority: String? = nil) throws {
        folder = try directory.makeFolder("person")
        let fixture = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Fixtures/browser")
        try directory.write("person/browser", [UInt8](Data(contentsOf: fixture)), mode: 0o700)
        let person: [String: Any] = [
            "username": Glewlwyd.user, "password": Glewlwyd.userPassword, "answer": answer.rawValue,
            "authority": authority ?? NSNull(),
        ]
        try directory.write("person/person.json", [UInt8](JSONSerialization.data(withJSONObject: person)))
    }

    /// What the person does with an authorization URL that is shown rather than opened.
    func open(_ url: String) async throws -> Record {
        try await Program(browser).run([url], environment: ["PATH": Program.searchPath]).successful("the browser")
        return try await record()
    }

    /// What passed through the browser, which may still be looking at its last page.
    func record() async throws -> Record {
        let limit = ContinuousClock.now + .seconds(20)
        while !FileManager.default.fileExists(atPath: folder + "/record.json"), ContinuousClock.now < limit {
            try await Task.sleep(for: .milliseconds(10))
        }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(Record.self, from: Data(contentsOf: URL(fileURLWithPath: folder + "/record.json")))
    }
}
