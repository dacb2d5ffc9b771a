import Foundation
import Testing
import TestServices
import VaultChecks

/// What libFuzzer found (Tests/Whole/Fuzz/Corpus), and thousands of mutations of it. The seed is fixed: a failure names the
/// input and comes back. `LATCHKEY_LONG=1` makes them fifty times as many, from another seed each time.
@Suite struct FuzzTests {
    private static let seed: UInt64 = runsLong ? UInt64.random(in: 0 ... .max) : 0x6C61_7463_686B_6579

    private func corpus(_ check: VaultCheck) throws -> [(name: String, bytes: [UInt8])] {
        let folder = TestData.tests.appendingPathComponent("Whole/Fuzz/Corpus/\(check.rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: folder.appendingPathComponent(name))))
        }
    }

    /// `LATCHKEY_RECORD=samples` adds sound inputs to the corpus, and fails.
    @Test func `the corpus has sound inputs`() throws {
        let directory = try TestDirectory()
        for check in VaultCheck.allCases {
            if ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] == "samples" {
                let folder = TestData.tests.appendingPathComponent("Whole/Fuzz/Corpus/\(check.rawValue)")
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                for (number, sample) in try check.samples(in: directory.path).enumerated() {
                    try Data(sample).write(to: folder.appendingPathComponent("sample-\(number)"))
                }
                Issue.record("recorded \(check): run again without LATCHKEY_RECORD")
            }
            #expect(try corpus(check).contains { $0.name == "sample-0" }, "\(check)")
        }
    }

    @Test(arguments: VaultCheck.allCases)
    func `arbitrary bytes are read or refused, without a crash`(_ check: VaultCheck) async throws {
        let directory = try TestDirectory()
        let corpus = try corpus(check)
        var accepted = 0
        for (name, bytes) in corpus {
            do {
                if try await check.run(bytes, in: directory.path) { accepted += 1 }
            } catch {
                Issue.record("\(name): \(error)")
            }
        }
        // Both ends are reached: else the check shows nothing.
        #expect(accepted > 0 && accepted < corpus.count)
        var mutator = Mutator(seed: Self.seed, samples: corpus.map(\.bytes))
        let count = (check == .file ? 300 : 4000) * (runsLong ? 50 : 1)
        for round in 0..<count {
            // Tests beside this one wait for processes and servers, and there are few threads for all.
            if round % 32 == 0 { await Task.yield() }
            let input = mutator.next()
            do {
                _ = try await check.run(input, in: directory.path)
            } catch {
                Issue.record("seed \(Self.seed), input \(Data(input).base64EncodedString()): \(error)")
                return
            }
        }
    }
}
