import Foundation
import LatchkeyCommands
import LatchkeyStoreSelection
import LatchkeyCommandLine
import Testing
import TestServices

/// Docs/Reference/json.md, compared with what the commands write.
@Suite struct JSONPageTests {
    private struct Row {
        let command: String
        let isArray: Bool
        let required: Set<String>
        let optional: Set<String>
    }

    private static func page() throws -> String {
        try String(contentsOf: TestData.package.appendingPathComponent("Docs/Reference/json.md"), encoding: .utf8)
    }

    private static func rows() throws -> [String: Row] {
        let rows = try page().split(separator: "\n").filter { $0.hasPrefix("| `") }.compactMap { line -> Row? in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map {
                $0.trimmingCharacters(in: .whitespaces)
            }
            guard cells.count == 6 else { return nil }
            let members = cells[3].split(separator: ", ").map(String.init)
            return Row(
                command: cells[1].filter { $0 != "`" }, isArray: cells[2] == "array",
                required: Set(members.filter { !$0.hasSuffix("*") }),
                optional: Set(members.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) }))
        }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0.command, $0) })
    }

    /// The commands named in backquotes in the paragraph that begins so.
    private static func commands(after words: String) throws -> [String] {
        let page = try page()
        let start = try #require(page.range(of: words))
        let paragraph = page[start.upperBound...].prefix { $0 != "." }
        return paragraph.matches(of: /`([a-z -]+)`/).map { String($0.output.1) }
    }

    @Test func `the page lists every command, once`() throws {
        let listed =
            try Array(Self.rows().keys) + Self.commands(after: "nothing to standard output:")
            + Self.commands(after: "These write their result verbatim:")
        #expect(listed.sorted() == LatchkeyGrammar.grammar(.standard).commands.map(\.name).sorted())
    }

    private func check(_ run: ProgramRun, _ command: String, _ rows: [String: Row]) throws {
        let row = try #require(rows[command], "\(command)")
        let value = try JSONSerialization.jsonObject(with: Data(run.output))
        #expect(value is [Any] == row.isArray, "\(command): \(run.outputText)")
        let objects = value as? [[String: Any]] ?? (value as? [String: Any]).map { [$0] } ?? []
        #expect(!objects.isEmpty || row.required.isEmpty, "\(command) wrote none: \(run.outputText)\(run.errorText)")
        for object in objects {
            let names = Set(object.keys)
            #expect(row.required.isSubset(of: names), "\(command): \(names.sorted())")
            #expect(names.isSubset(of: row.required.union(row.optional)), "\(command): \(names.sorted())")
        }
        for line in run.errorText.split(separator: "\n") {
            let message = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String], "\(command): \(line)")
            #expect(["error", "warning", "note"].contains(message["level"]), "\(line)")
            #expect(message["message"] != nil && (message["level"] == "error") == (message["code"] != nil), "\(line)")
        }
    }

    @Test func `each command writes the members that the page names`() async throws {
        let rows = try Self.rows()
        let scene = try await RefreshScene()
        var seen: Set<String> = []
        func run(_ words: [String], _ options: [String] = [], statuses: Set<Int32> = [0]) async throws {
            let command = words.joined(separator: " ")
            let run = try await BuiltProducts.latchkey().run(
                words + options + ["--json"], environment: scene.environment)
            #expect(statuses.contains(run.status), "\(command): \(run.errorText)")
            seen.insert(command)
            // Where the kernel has no keyring, or the desktop none.
            if run.status == 69 && run.output.isEmpty { return }
            try check(run, command, rows)
        }
        try await BuiltProducts.latchkey().run(
            ["set", "example.org", "alice"], environment: scene.environment, input: [0x78]
        ).successful("set")
        let git = try scene.directory.write("git", "https://ada:secret@example.net\n")
        let backup = try scene.directory.makeFolder("backup") + "/vault"
        let key = ["--key-file", scene.directory / "backup.key"]
        try await run(["list"])
        try await run(["list"], ["--all", "--all-stores"], statuses: [0, 69])
        try await run(["search"], ["ALICE"])
        try await run(["import"], ["--from", "git", git, "--dry-run"])
        try await run(["import"], ["--from", "git", git])
        // What would be copied into a keyring that isn't there is refused: the shape is that of an import.
        seen.formUnion(["copy", "move"])
        try await run(["doctor"], statuses: [0, 69])
        try await run(["config", "set"], ["all-stores", "no"])
        try await run(["config", "get"], ["all-stores"])
        try await run(["config", "list"])
        try await run(["config", "set"], ["all-stores"])
        try await run(["accounts"])
        try await run(["accounts"], ["--all-stores"], statuses: [0, 69])
        try await run(["sign-in"], ["work", "--account", "second"])
        try await run(["use"], ["work", "second"])
        try await run(["token"], ["work"])
        try await run(["sign-out"], ["work"])
        try await run(["provider", "list"])
        try await run(["provider", "add"], ["other", "--service", "github", "--client-id", "me"])
        try await run(["provider", "remove"], ["other"])
        try await run(["scheme", "list"])
        try await run(["setup"])
        try await run(["setup"], ["go", "--print"])
        try await run(["setup"], ["go", "--yes"])
        try await run(["setup"], ["go", "--yes"])
        try await run(["setup"], ["go", "--undo", "--yes"])
        try await run(["keyring", "enable"])
        // Nobody serves one there.
        try await run(["keyring", "status"], statuses: [1, 69])
        try await run(["keyring", "disable"])
        try await run(["vault", "status"])
        try await run(["vault", "slots"])
        try await run(["vault", "verify"])
        try await run(["vault", "verify"], ["--accept"])
        try await run(["vault", "export"], [backup] + key)
        try await run(["vault", "import"], [backup] + key)
        try await run(["vault", "rekey"])
        try await run(["vault", "lock"], statuses: [0, 69])
        try await run(["vault", "accept-rollback"])
        #expect(seen == Set(rows.keys))
    }
}
