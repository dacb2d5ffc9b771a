internal import Foundation
internal import Testing
internal import TestServices

/// Runs each file of Transcripts in a directory of its own, against the programs that were built.
/// `LATCHKEY_RECORD=1` writes into the files what the programs answer, and fails; read the changes before they count.
@Suite struct TranscriptTests {
    @Test(arguments: try Transcript.all())
    func `the programs respond as the transcript says`(_ transcript: Transcript) async throws {
        let directory = try TestDirectory()
        var environment = try await PassphraseVault.cheap(directory.environment())
        environment["PATH"] = try BuiltProducts.searchPath()
        var servers: MetadataServer?
        if transcript.needsServers {
            let certificates = try await CertificateAuthority(in: directory)
            servers = try MetadataServer(certificates: certificates)
            environment.merge(servers?.environment ?? [:]) { _, new in new }
            environment["AUTHORITY"] = certificates.certificate
            environment["NOBODY"] = "http://127.0.0.1:\(try LoopbackPort.free())"
        }
        let database = transcript.needsDatabase ? try await PostgreSQLServer(isDurable: false) : nil
        if let database { environment["DATABASE"] = "127.0.0.1:\(database.port)" }
        let shell = try Program("/bin/sh")
        var answers: [Transcript.Step] = []
        for step in transcript.steps {
            let run = try await shell.run(["-c", step.command], environment: environment, folder: directory.path)
            let place: Comment = "\(transcript.name):\(step.line): \(step.command)"
            let output = Self.shown(run.outputText, directory, environment)
            let errors = Self.shown(run.errorText, directory, environment)
            #expect(Transcript.matches(output, step.output), place)
            #expect(Transcript.matches(errors, step.errorOutput), place)
            #expect(run.status == step.status, place)
            answers.append(
                .init(line: step.line, command: step.command, output: output, errorOutput: errors, status: run.status))
        }
        if TestData.isRecording { try transcript.record(answers) }
        withExtendedLifetime((servers, database)) {}
    }

    /// Puts names in the place of what is different in each run.
    private static func shown(_ text: String, _ directory: TestDirectory, _ environment: [String: String]) -> String {
        var text = text.replacingOccurrences(of: directory.path, with: "DIR")
        for name in ["SERVER", "SECURE", "NOBODY", "DATABASE"] {
            if let value = environment[name] { text = text.replacingOccurrences(of: value, with: name) }
        }
        return text
    }

    @Test func `a transcript that expects other output is noticed`() throws {
        #expect(Transcript.matches("a b c\n", "a … c\n"))
        #expect(Transcript.matches("a b c\n", "…b…\n"))
        #expect(!Transcript.matches("a b c\n", "a … d\n"))
        #expect(!Transcript.matches("a\nb\n", "a\n"))
        #expect(!Transcript.matches("a", "a\n"))
        #expect(throws: Transcript.Malformed.self) { try Transcript(name: "x", text: "# nothing\n") }
        #expect(throws: Transcript.Malformed.self) { try Transcript(name: "x", text: "$ a\nb\n") }
    }
}
