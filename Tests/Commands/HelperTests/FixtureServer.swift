import Foundation
import TestServices

/// A server in Python that prints `port N`, and then a line for each request.
final class FixtureServer: Sendable {
    let host: String
    private let program: RunningProgram

    init(_ script: String, _ arguments: String...) async throws {
        program = try Program("/usr/bin/python3").start(
            [HelperScene.fixture(script)] + arguments, environment: ["PATH": Program.searchPath])
        try await program.wait(for: "the server's port") { [program] in program.outputSoFar.contains("\n") }
        let line = program.outputSoFar.split(separator: "\n").first ?? ""
        host = "127.0.0.1:" + line.dropFirst("port ".count)
    }

    /// What the server said of each request.
    var requests: [String] { program.outputSoFar.split(separator: "\n").dropFirst().map(String.init) }
}
