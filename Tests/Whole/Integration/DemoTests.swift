import Foundation
import Testing
import TestServices

struct DemoTests {
    /// The README's first command ends with this program.
    @Test func `the demo signs in, refreshes and signs out, and its audit finds nothing`() async throws {
        let directory = try TestDirectory()
        let run = try await BuiltProducts.program("latchkey-demo").run([], environment: directory.environment())
        #expect(run.status == 0, "\(run.outputText)\(run.errorText)")
        let lines = run.outputText.split(separator: "\n")
        let steps = ["server", "store", "sign-in", "request", "refresh", "sign-out", "audit"]
        #expect(lines.map { $0.prefix { $0 != " " } } == steps.map { $0[...] }, "\(run.outputText)")
        #expect(lines.count { $0.hasSuffix("status 200") } == 2, "\(run.outputText)")
        #expect(lines.last?.contains("0 found") == true, "\(run.outputText)")
        let left = try FileManager.default.contentsOfDirectory(atPath: directory / "tmp")
        #expect(left.isEmpty, "the demo removes its vault")
    }
}
