import Foundation
import Testing

/// Docs/Reference/error-codes.md lists every code of an error.
@Suite struct ErrorCodeTests {
    /// What looks like a code and isn't: names of hosts and files, and a log's categories.
    private static let others: Set<String> = [
        "alice.test", "codeberg.org", "github.com", "gitlab.com", "memory.max", "plc.directory", "mastodon.social",
    ]

    @Test func `the page has each code that the source has, and no other`() throws {
        let page = Set(
            try Repository.text("Docs/Reference/error-codes.md").split(separator: "\n")
                .filter { $0.hasPrefix("| `") }
                .flatMap { $0.dropFirst(2).prefix(while: { $0 != "|" }).matches(of: /`([a-z.-]+)`/) }
                .map { String($0.output.1) })
        var source: Set<String> = []
        for (_, code) in try SinksTests.sources() {
            for found in code.matches(of: /"([a-z][a-z-]+\.[a-z][a-z-]+)"/) {
                let text = String(found.output.1)
                if !text.hasPrefix("latchkey."), !Self.others.contains(text) { source.insert(text) }
            }
        }
        #expect(page.subtracting(source).sorted() == [])
        #expect(source.subtracting(page).sorted() == [])
        #expect(page.count > 200)
    }
}
