import Foundation
import TestServices
import Testing

/// Docs/Explanation/how-we-know.md, and the script that fills it.
struct HowWeKnowTests {
    private static let page = "Docs/Explanation/how-we-know.md"

    @Test func `each promise names a test that exists, and says when it passed`() throws {
        let tests = try Repository.testNames()
        var count = 0
        for line in try Repository.lines(Self.page) {
            guard let row = line.wholeMatch(of: /\| .+ \| `(.+)` \| ([0-9]+) \| (20[0-9-]{8}) \|/) else {
                #expect(!line.hasPrefix("| ") || line.hasPrefix("| promise"), "\(line)")
                continue
            }
            #expect(tests.contains(String(row.output.1)), "\(row.output.1)")
            count += 1
        }
        #expect(count >= 20)
    }

    @Test func `a log in which a promise's test failed, or is missing, changes nothing`() async throws {
        let directory = try TestDirectory()
        try directory.makeFolder("Docs/Explanation")
        try directory.makeFolder("Scripts")
        let script = try directory.write(
            "Scripts/how-we-know", Array(Data(Repository.text("Scripts/how-we-know").utf8)))
        let page = "| a | `one` | | |\n| b | `two, with 3` | 1 | 2026-01-01 |\n"
        try directory.write(Self.page, page)
        func run(_ log: String) async throws -> (ProgramRun, String) {
            let log = try directory.write("log", log)
            let run = try await Program("python3").run([script, log])
            return (run, String(decoding: try directory.read(Self.page), as: UTF8.self))
        }
        let good =
            "✔ Test \"one\" passed after 1 seconds.\n✔ Test \"two, with 3\" with 12 test cases passed after 2 seconds.\n"
        for bad in [
            "", String(good.prefix(40)), good + "✘ Test \"one\" failed after 1 seconds with 1 issue.\n",
            good.replacing("✔ Test \"two", with: "✘ Test \"two"),
        ] {
            let (run, text) = try await run(bad)
            #expect(run.status == 1 && run.errorText.contains("how-we-know: ") && text == page, "\(run.errorText)")
        }
        let (run, text) = try await run(good)
        #expect(run.status == 0)
        #expect(
            text.wholeMatch(of: /\| a \| `one` \| 1 \| (20[0-9-]{8}) \|\n\| b \| `two, with 3` \| 12 \| \1 \|\n/) != nil
        )
    }
}
