import Foundation
import LatchkeySecrets
import Testing
import TestServices

@Suite struct SecretSinkTests {
    @Test func `a descriptor receives exactly the secret's bytes`() throws {
        let pipe = Pipe()
        let bytes = (0...255).map { UInt8($0) }
        var sink = FileDescriptorSecretSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        try Secret<Password>(copying: bytes.span).pour(into: &sink)
        try Secret<Password>(text: "").pour(into: &sink)
        try Secret<Password>(text: "x").pour(into: &sink)
        try pipe.fileHandleForWriting.close()
        #expect(try pipe.fileHandleForReading.readToEnd() == Data(bytes + [0x78]))
    }

    @Test func `a megabyte goes through a pipe in pieces`() throws {
        let pipe = Pipe()
        let bytes = (0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let reader = PipeReader(pipe)
        var sink = FileDescriptorSecretSink(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        try Secret<Password>(copying: bytes.span).pour(into: &sink)
        try pipe.fileHandleForWriting.close()
        #expect(reader.finish() == Data(bytes))
    }

    @Test func `a descriptor that can't be written is an error with its number`() {
        var closed = FileDescriptorSecretSink(descriptor: 987_654)
        let failure = #expect(throws: FileDescriptorSecretSink.WriteFailure.self) {
            try Secret<Password>(text: "x").pour(into: &closed)
        }
        #expect(failure?.number == EBADF)
    }

    @Test func `an error of a sink is rethrown`() {
        struct Full: Error {}
        struct FullSink: SecretSink {
            static var reason: StaticString { "a test of refusal" }
            // ThreadSanitizer ends at a sink without a place in memory.
            var refused = 0
            mutating func receive(_ bytes: Span<UInt8>) throws(Full) {
                refused += bytes.count
                throw Full()
            }
        }
        var sink = FullSink()
        #expect(throws: Full.self) { try Secret<Password>(text: "x").pour(into: &sink) }
        #expect(sink.refused == 1)
    }
}
