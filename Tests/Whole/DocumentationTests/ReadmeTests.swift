import Foundation
import TestServices
import Testing

struct ReadmeTests {
    @Test func `the README is short`() throws {
        #expect(try Repository.lines("README.md").count <= 150)
        #expect(try Repository.text("README.md").split(whereSeparator: \.isWhitespace).count < 900)
    }

    /// What people copy: one command for the main job, one for the tests. `.ci/run` calls both, the tests last.
    @Test func `the README has two commands, and CI runs them`() throws {
        let commands = try Repository.blocks("sh", in: "README.md")
        #expect(commands == ["Scripts/demo", "Scripts/test"])
        let runner = try Repository.text(".ci/run")
        #expect(runner.contains("\nScripts/demo\n"))
        #expect(runner.hasSuffix("\nScripts/test\n"))
        #expect(try Repository.text("Scripts/demo").hasSuffix("\nexec .build/release/latchkey-demo\n"))
        let tests = try Repository.text("Scripts/test")
        #expect(tests.contains("\n.build/release/latchkeyPackageTests.xctest --"))
        #expect(tests.hasSuffix(" || status=$?\nexit $status\n"))
    }

    /// `--skip` with a pattern that fits a suite's own name skips all of the suite: 160 tests ran nowhere.
    @Test func `as root, each test runs as root or as an ordinary user`() async throws {
        let script = Repository.root.appendingPathComponent("Tests/unprivileged").path
        let printed = try await Program(script).run(["--pattern"]).successful("--pattern").outputText
        let pattern = try Regex(printed.trimmingCharacters(in: .newlines))
        for suite in ["VaultTests.KeySlotTests", "VaultTests.ItemIndexTests", "CommandTests.MachineTests"] {
            #expect(!suite.contains(pattern), "\(suite)")
        }
        for (test, isLeft) in [
            ("VaultTests.KeySlotTests/`a slot`()", true), ("VaultTests.ItemIndexTests/`a search`()", false),
            ("VaultTests.PathTests/`a path`()", false), ("CommandTests.ResourceTests/`a sign-in`()", true),
            ("CommandTests.ResourceTests/`a server with its own library`()", false),
            ("IntegrationTests.DoctorTests/`a doctor`()", false),
        ] {
            #expect(test.contains(pattern) == isLeft, "\(test)")
        }
    }

    /// A library that the package links but the first command doesn't install shows only on a fresh machine.
    @Test func `the first command installs the packages that the manifest names`() throws {
        let manifest = try Repository.text("Package.swift")
        let named = manifest.matches(of: /\b(lib[a-z0-9.+-]+-dev)\b/).map { String($0.output.1) }
        try #require(named.count >= 5)
        let list = try #require(Repository.text("Scripts/install").firstMatch(of: /\nbuild=\((.*)\)\n/)?.output.1)
        let words = Set(list.split(separator: " ").map(String.init))
        #expect(words.isSuperset(of: named), "missing: \(Set(named).subtracting(words))")
    }

    /// Nothing is asked of the package manager where everything is there: a machine without a network does.
    @Test func `the first command doesn't install packages again`() async throws {
        let directory = try TestDirectory()
        let tools = directory / "tools"
        try FileManager.default.createDirectory(atPath: tools, withIntermediateDirectories: true)
        try Data("#!/bin/sh\necho installed\n".utf8).write(to: URL(fileURLWithPath: tools + "/dpkg-query"))
        for name in ["apt-get", "sudo"] {
            try Data("#!/bin/sh\necho \"$0 $*\" >> '\(directory / "calls")'\n".utf8)
                .write(to: URL(fileURLWithPath: "\(tools)/\(name)"))
        }
        for name in ["dpkg-query", "apt-get", "sudo"] { unsafe chmod("\(tools)/\(name)", 0o755) }
        let script = Repository.root.appendingPathComponent("Scripts/install").path
        let path = ["PATH": "\(tools):/usr/bin:/bin"]
        let there = try await Program("bash").run([script, "tests"], environment: path)
        #expect(there.status == 0 && there.errorText.isEmpty && there.outputText.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: directory / "calls"))

        try Data("#!/bin/sh\ncase \"$*\" in *libcurl4*) exit 1;; esac; echo installed\n".utf8)
            .write(to: URL(fileURLWithPath: tools + "/dpkg-query"))
        let missing = try await Program("bash").run([script, "build"], environment: path)
        #expect(missing.status == 0, "\(missing.errorText)")
        #expect(missing.errorText == "Installing with apt-get: libcurl4-openssl-dev\n")
        let calls = try String(contentsOfFile: directory / "calls", encoding: .utf8)
        #expect(calls.contains("install --quiet --yes --no-install-recommends libcurl4-openssl-dev\n"))
    }

    @Test func `the library example is the one that is compiled and run`() throws {
        let blocks = try Repository.blocks("swift", in: "README.md")
        try #require(blocks.count == 1)
        // A stranger's package compiles it: it would talk to a server.
        #expect(try Repository.text("Tests/Whole/Adopters/Sources/Adopter/Profile.swift").contains(blocks[0]))
        #expect(blocks[0].split(separator: "\n").count <= 12)
        let example = try Repository.text("Tests/Whole/DocumentationTests/LibraryExample.swift")
        let page = try Repository.blocks("swift", in: "Docs/HowTo/secrets-in-swift.md")
        #expect(page.count == 3)
        for block in page { #expect(example.contains(block), "\(block)") }
        let signIn = try Repository.blocks("swift", in: "Docs/HowTo/sign-in-in-swift.md")
        let examples = try Repository.text("Tests/SignIn/SignInTests/SignInExampleTests.swift")
        #expect(signIn.count == 2)
        for block in signIn { #expect(examples.contains(block + "\n"), "\(block)") }
    }

    @Test func `the example of requests is the one that is compiled and run`() throws {
        let blocks = try Repository.blocks("swift", in: "Docs/HowTo/authenticated-requests.md")
        try #require(blocks.count == 1)
        #expect(try Repository.text("Tests/Extras/FoundationTests/URLRequestTests.swift").contains(blocks[0] + "\n"))
    }

    @Test func `the examples of swift-log are compiled by a stranger's package`() throws {
        let blocks = try Repository.blocks("swift", in: "Docs/HowTo/logging.md")
        let code = try Repository.text("Tests/Whole/Adopters/Sources/Adopter/SwiftLog.swift")
        #expect(blocks.count == 3)
        for block in blocks { #expect(code.contains(block + "\n"), "Docs/HowTo/logging.md: \(block)") }
    }

    @Test func `the examples of AT Protocol are those that are compiled and run`() throws {
        let blocks = try Repository.blocks("swift", in: "Docs/HowTo/at-protocol.md")
        try #require(blocks.count == 2)
        let code = try Repository.text("Tests/Extras/ATProtocolTests/WholePathTests.swift")
        for block in blocks { #expect(code.contains(block + "\n")) }
    }
}
