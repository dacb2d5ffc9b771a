import Foundation
import Testing

struct ReadmeTests {
    @Test func `the README is short`() throws {
        #expect(try Repository.lines("README.md").count <= 150)
    }

    /// What people copy: one line for the main job, one for the tests. `.ci/run` takes both from the README.
    @Test func `the README has two command lines, and CI runs these very lines`() throws {
        let commands = try Repository.blocks("sh", in: "README.md").flatMap { $0.split(separator: "\n") }
        try #require(commands.count == 2)
        let (demo, tests) = (commands[0], commands[1])
        #expect(demo.hasPrefix("sudo=") && demo.hasSuffix("/latchkey demo"))
        #expect(tests.hasPrefix("sudo=") && tests.contains(" && swift test --"))
        let runner = try Repository.text(".ci/run")
        for pattern in ["demo_line=$(grep -E '^sudo=.*latchkey demo$' README.md)\n", "bash -euc \"$demo_line\"\n"] {
            #expect(runner.contains(pattern))
        }
        #expect(runner.contains("test_line=$(grep -E '^sudo=.* swift test [a-z0-9 -]*$' README.md)\n"))
        #expect(runner.hasSuffix("bash -euc \"$test_line\"\n"))
    }

    /// A library that the package links but the first line doesn't install shows only on a fresh machine.
    @Test func `the first line installs what the package's system libraries name`() throws {
        let manifest = try Repository.text("Package.swift")
        let named = manifest.matches(of: /apt: "([a-z0-9.+-]+)"/).map { String($0.output.1) }
        try #require(named.count >= 5)
        let commands = try Repository.blocks("sh", in: "README.md").joined(separator: "\n")
        for line in commands.split(separator: "\n") {
            let words = Set(line.split(separator: " ").map(String.init))
            #expect(words.isSuperset(of: named), "missing: \(Set(named).subtracting(words))")
        }
    }

    @Test func `the library example is the one that is compiled and run`() throws {
        let blocks = try Repository.blocks("swift", in: "README.md")
        try #require(blocks.count == 2)
        let example = try Repository.text("Tests/DocumentationTests/LibraryExample.swift")
        #expect(example.contains(blocks[0]))
        // A stranger's package compiles the other one: it would talk to GitHub.
        #expect(try Repository.text("Tests/Adopters/Sources/Adopter/GitHub.swift").contains(blocks[1]))
        let statements = blocks[0].split(separator: "\n").filter { !$0.hasPrefix("import ") }
        #expect(statements.count <= 12)
    }

    @Test func `the example of requests is the one that is compiled and run`() throws {
        let blocks = try Repository.blocks("swift", in: "Docs/Authenticator.md")
        try #require(blocks.count == 1)
        #expect(try Repository.text("Tests/FoundationBridgeTests/Example.swift").contains(blocks[0] + "\n"))
    }

    @Test func `the example of AT Protocol is the one that is compiled and run`() throws {
        let blocks = try Repository.blocks("swift", in: "Docs/ATProtocol.md")
        try #require(blocks.count == 1)
        #expect(try Repository.text("Tests/ATProtocolTests/Example.swift").contains(blocks[0] + "\n"))
    }

    /// Foundation's networking is slow to start and a large library: nobody else may need it.
    @Test func `one module alone imports Foundation's networking, and no executable needs it`() throws {
        var importers: Set<String> = []
        for (path, code) in try SinksTests.sources() where code.contains("import FoundationNetworking\n") {
            importers.insert(String(path.prefix { $0 != "/" }))
        }
        #expect(importers == ["FoundationBridge"])
        let manifest = try Repository.text("Package.swift")
        let users = manifest.matches(
            of: /(?:module|\.target|\.executableTarget)\(\s*(?:name: )?"([\w-]+)",[^)]*"LatchkeyFoundation"/)
        #expect(users.map { String($0.output.1) } == [])
    }
}
