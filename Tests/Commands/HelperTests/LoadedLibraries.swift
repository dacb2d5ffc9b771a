import Foundation
import Testing
import TestServices

extension HelperScene {
    /// How the files of libraries begin that networking needs.
    static let networking = ["libcurl", "libssl", "libmicrohttpd"]

    /// Calls a helper by its own name, which must succeed, and returns which networking libraries ld.so(8) loaded in its
    /// processes.
    func networkingLoaded(by name: String, _ arguments: [String], input: String) async throws -> [String] {
        let folder = try directory.makeFolder("loaded-\(UInt64.random(in: 0 ... .max))")
        let watched = environment.merging(["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": folder + "/of"]) { $1 }
        let run = try await Program(directory / "bin/\(name)").run(
            arguments, environment: watched, input: Array(input.utf8))
        try run.successful(name)
        #expect(!run.output.isEmpty, "\(name) has no answer")
        let reports = try FileManager.default.contentsOfDirectory(atPath: folder).map {
            String(decoding: try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\($0)")), as: UTF8.self)
        }
        // What every run loads shows that the reports say what is loaded.
        #expect(!reports.isEmpty && reports.allSatisfy { $0.contains("file=libsodium.so") })
        return Self.networking.filter { library in reports.contains { $0.contains("file=\(library)") } }
    }
}

/// Helpers answer from what is stored without a network's libraries. That a session's renewal loads them is in
/// `HelperSessionTests`.
@Suite struct HelperLibraryTests {
    @Test(arguments: HelperScene.Store.allCases)
    func `no helper loads networking to read stored credentials`(_ store: HelperScene.Store) async throws {
        let scene = try await HelperScene(store)
        let address = "https://example.org/simple/"
        for service in ["git:https://example.org", "docker:https://example.org", address, "ssh:/home/ada/.ssh/id"] {
            try await scene.latchkey("set", service, "ada", input: "s3cret")
        }
        try await scene.latchkey("set", "cargo:sparse+\(address)", "token", input: "s3cret")
        let cargo = """
            {"v":1,"registry":{"index-url":"sparse+\(address)"},"kind":"get","operation":"read","args":[]}
            """
        for (name, arguments, input) in [
            ("git-credential-latchkey", ["get"], "protocol=https\nhost=example.org\n\n"),
            ("docker-credential-latchkey", ["get"], "https://example.org"),
            ("docker-credential-latchkey", ["list"], ""),
            ("cargo-credential-latchkey", ["--cargo-plugin"], cargo + "\n"),
            ("keyring", ["get", address, "ada"], ""),
            ("latchkey", ["helper", "go", "https://example.org/module"], ""),
        ] {
            #expect(
                try await scene.networkingLoaded(by: name, arguments, input: input) == [], "\(name) \(arguments)")
        }
    }
}
