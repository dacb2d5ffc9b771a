import Foundation
import Testing
import TestServices

/// A file of variables beside what `sh` makes of it. The page on `run` said that both read the same, and didn't say of
/// which values that holds.
@Suite struct EnvironmentFileTests {
    private static let rounds = runsLong ? 500 : 3
    private let directory: TestDirectory
    private let environment: [String: String]

    init() throws {
        directory = try TestDirectory()
        environment = try directory.environment()
    }

    @Test func `values that the page calls equal are equal for sh`() async throws {
        let script = TestData.folder().appendingPathComponent("env_file.py").path
        let seed = Int.random(in: 0..<1 << 30)
        let run = try await Program("python3").run(
            [script, "\(Self.rounds)", "\(seed)", try BuiltProducts.latchkey().path, "run", "--env-file"],
            environment: environment, timeout: .seconds(1200)
        ).successful("python3")
        #expect(run.outputText == "\(Self.rounds * 200)\n", "seed \(seed)")
    }

    @Test(arguments: [
        (#"A="C:\new""#, "C:\new", #"C:\new"#), (#"A=a\ b"#, #"a\ b"#, "a b"), ("A=a;B=c", "a;B=c", "a"),
        ("A=a b", "a b", ""), ("A=~", "~", "/nowhere"), (#"A="$B""#, "$B", ""),
    ])
    func `other values differ as the page says`(line: String, ours: String, shell: String) async throws {
        let file = try directory.write("file", line + "\n")
        let run = try await BuiltProducts.latchkey().run(
            ["run", "--env-file", file, "--", "printenv", "A"], environment: environment)
        #expect(run.outputText == ours + "\n", "\(run.errorText)")
        let read = try await Program("sh").run(
            ["-c", ". \"$1\"; printf %s \"$A\"", "sh", file], environment: ["HOME": "/nowhere", "PATH": "/usr/bin"])
        #expect(read.outputText == shell)
    }
}
