import Foundation
import Testing
import TestServices

struct DemoTests {
    /// The README's first command ends with this command.
    @Test func `the demo shows the whole path and ends with an audit that finds nothing`() async throws {
        let directory = try TestDirectory()
        let run = try await BuiltProducts.latchkey().run(["demo"], environment: directory.environment())
        #expect(run.status == 0, "\(run.errorText)")
        let last = run.outputText.split(separator: "\n").last ?? ""
        #expect(last.contains("0 found"), "\(run.outputText)")
        let left = try FileManager.default.contentsOfDirectory(atPath: directory / "tmp")
        #expect(left.isEmpty, "the demo removes its vault")
    }

    @Test func `the demo keeps its session in the store that is named`() async throws {
        let session = try await PrivateSession(.unlocked)
        let run = try await BuiltProducts.latchkey().run(
            ["demo", "--store", "secret-service"], environment: session.environment)
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.outputText.contains("0 found"))
        #expect(run.outputText.contains("secret-service"))
    }
}
