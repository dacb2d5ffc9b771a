import Foundation
import Testing
import TestServices

/// `latchkey list` of more than is sorted: everything once, and in memory of one size.
@Suite struct LongListTests {
    /// A vault with so many accounts of example.org, and the environment that finds it.
    private func vault(_ count: Int) async throws -> (TestDirectory, [String: String]) {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["LATCHKEY_KEY_FILE"] = directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", directory / "key"], environment: environment
        ).successful("vault init")
        try await BuiltProducts.program("vault-writer").run(
            ["fill", directory / "data/latchkey/vault", directory / "key", "40", "\(count)"],
            environment: environment, timeout: .seconds(300)
        ).successful("fill")
        return (directory, environment)
    }

    /// Runs it below a program that says how many KiB it had at most.
    private func list(
        _ arguments: [String], _ environment: [String: String]
    ) async throws -> (output: ProgramRun, peak: Int) {
        let script = """
            import resource, subprocess, sys
            status = subprocess.call(sys.argv[1:])
            print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr)
            sys.exit(status)
            """
        let run = try await Program("/usr/bin/python3").run(
            ["-c", script, BuiltProducts.latchkey().path, "list"] + arguments, environment: environment
        ).successful("list")
        return (run, try #require(Int(run.errorText.trimmingCharacters(in: .whitespacesAndNewlines))))
    }

    private struct Entry: Decodable { let service, account: String }

    @Test func `a long listing is complete, and takes no memory for each entry`() async throws {
        var peaks: [Int] = []
        for count in [10_000, 24_000] {
            let (directory, environment) = try await vault(count)
            let (table, peak) = try await list([], environment)
            peaks.append(peak)
            let lines = table.outputText.split(separator: "\n")
            #expect(lines.count == count + 1 && lines[0].hasPrefix("SERVICE      ACCOUNT"))
            let accounts = lines.dropFirst().compactMap { Int($0.split(separator: " ")[1]) }
            #expect(Set(accounts) == Set(0..<count))
            // Sorted by the bytes of their names, as far as that goes.
            let isSorted = accounts.map(String.init) == (0..<count).map(String.init).sorted()
            #expect(isSorted == (count == 10_000))
            let (json, _) = try await list(["--json"], environment)
            let entries = try JSONDecoder().decode([Entry].self, from: Data(json.output))
            #expect(entries.count == count && Set(entries.map(\.account)) == Set((0..<count).map(String.init)))
            withExtendedLifetime(directory) {}
        }
        #expect(peaks[1] - peaks[0] < 14_000 / 10, "\(peaks) KiB")
    }
}
