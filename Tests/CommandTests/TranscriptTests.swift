internal import Foundation
internal import TestServices
internal import Testing

/// Runs each file of Transcripts in a directory of its own, against the programs that were built.
@Suite struct TranscriptTests {
    @Test(arguments: try Transcript.all())
    func `the programs answer as the transcript says`(_ transcript: Transcript) async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["PATH"] = try BuiltProducts.folder() + ":" + Program.searchPath
        let shell = try Program("/bin/sh")
        for step in transcript.steps {
            let run = try await shell.run(["-c", step.command], environment: environment, folder: directory.path)
            let output = run.outputText.replacingOccurrences(of: directory.path, with: "DIR")
            let errors = run.errorText.replacingOccurrences(of: directory.path, with: "DIR")
            let place: Comment = "\(transcript.name):\(step.line): \(step.command)"
            #expect(Transcript.matches(output, step.output), place)
            #expect(Transcript.matches(errors, step.errorOutput), place)
            #expect(run.status == step.status, place)
        }
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
