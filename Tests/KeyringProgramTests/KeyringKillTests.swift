import Foundation
import TestServices
import Testing

/// The service is killed while clients write: the bus starts it again, and they go on.
struct KeyringKillTests {
    private static let (writers, items, kills) = (8, 40, 12)

    @Test func `nothing that was acknowledged is lost when the service is killed at any moment`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none, pendingReplies: 50_000))
        let program = URL(fileURLWithPath: try BuiltProducts.latchkey().path).deletingLastPathComponent().path
        try scene.directory.write(
            "services/org.freedesktop.secrets.service",
            "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=\(program)/latchkey-keyring keyring serve --no-prompt\n")
        let script = TestData.folder().appendingPathComponent("writer.py").path
        let writers = try (0..<Self.writers).map { number in
            try Program("/usr/bin/python3").start([script, "w\(number)", "\(Self.items)"], environment: scene.environment)
        }
        for writer in writers { writer.closeInput() }
        var killed: Set<Int32> = []
        while killed.count < Self.kills {
            let json = try await scene.latchkey("keyring", "status", "--json").output
            let status = try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any]
            if let process = status?["process"] as? Int32, !killed.contains(process) {
                try await Task.sleep(for: .milliseconds(Int.random(in: 0...60)))
                kill(process, SIGKILL)
                killed.insert(process)
            }
            if try await ended(writers) { break }
        }
        #expect(killed.count >= 3, "\(killed.count)")
        var refusals = 0
        for (number, writer) in writers.enumerated() {
            let run = try await writer.finish().successful("writer \(number)")
            let lines = run.outputText.split(separator: "\n")
            #expect(lines.count == Self.items)
            refusals += Int(run.errorText.split(separator: " ").dropFirst(2).first ?? "") ?? 0
        }
        #expect(refusals > 0)
        // Each is there once, with its own secret.
        let found = try await scene.shell("secret-tool search --all kind killed")
        #expect(found.status == 0 && found.outputText.contains("secret = "), "\(found.errorText.suffix(500))")
        let search = found.outputText
        for writer in 0..<Self.writers {
            for item in 0..<Self.items {
                #expect(
                    search.components(separatedBy: "secret = secret w\(writer) \(item)\n").count == 2, "w\(writer) \(item)"
                )
            }
        }
        #expect(try await scene.latchkey("vault", "verify").status == 0)
    }

    private func ended(_ writers: [RunningProgram]) async throws -> Bool {
        writers.allSatisfy { $0.outputSoFar.split(separator: "\n").count == Self.items }
    }
}
