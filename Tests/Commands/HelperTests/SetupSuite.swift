import Foundation
import TestServices

/// A person with tools, in a home of their own, and `latchkey setup` beside them.
protocol SetupSuite: Sendable {
    var directory: TestDirectory { get }
    var environment: [String: String] { get }
}

extension SetupSuite {
    /// With the helpers' names on PATH, so that no link is made.
    static func environment(in directory: TestDirectory) throws -> [String: String] {
        var environment = try directory.environment()
        environment["PATH"] = try directory.makeFolder("bin") + ":" + Program.searchPath
        for name in ["docker-credential-latchkey", "cargo-credential-latchkey", "keyring", "latchkey"] {
            try FileManager.default.createSymbolicLink(
                atPath: directory / "bin/\(name)", withDestinationPath: BuiltProducts.latchkey().path)
        }
        return environment
    }

    func setup(_ arguments: String..., with extra: [String: String] = [:]) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["setup"] + arguments, environment: environment.merging(extra) { $1 }, folder: directory.path)
    }

    /// Runs a script whose first argument is the folder of Python tools.
    func shell(_ script: String) async throws -> ProgramRun {
        let tools = TestData.package.appendingPathComponent(".build/judges/python/bin").path
        return try await Program("bash").run(
            ["-c", script, "bash", tools], environment: environment, folder: directory.path)
    }

    func write(_ file: String, _ text: [UInt8], mode: UInt32 = 0o600) throws {
        try directory.makeFolder(String(file[..<file.lastIndex(of: "/")!]))
        try directory.write(file, text, mode: mode)
    }

    func entries(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory / folder).sorted()
    }
}
