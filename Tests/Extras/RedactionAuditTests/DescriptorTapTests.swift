import Foundation
import LatchkeyLeakAudit
import LatchkeyLog
import LatchkeySecrets
import Testing

@Suite struct DescriptorTapTests {
    @Test func `the audit searches what is written to a descriptor, and passes it on`() throws {
        let target = Pipe()
        let descriptor = target.fileHandleForWriting.fileDescriptor
        let audit = LeakAudit()
        let token = try audit.plantRandom(AccessToken.self)
        let text = LeakAuditTests.text(token)
        let tap = try DescriptorTap(descriptor: descriptor, as: "the pipe")
        // Each of two would wait for the other one's pipe.
        let second = #expect(throws: CaptureFailed.self) {
            _ = try DescriptorTap(descriptor: descriptor, as: "the pipe")
        }
        #expect(second?.number == EBUSY)
        TextLogSink(descriptor: descriptor).write(
            LogEntry(level: .info, category: "test", message: "ordinary", timeNanoseconds: 0))
        try target.fileHandleForWriting.write(contentsOf: Data("leaked \(text)\n".utf8))
        tap.finish(into: audit)
        try target.fileHandleForWriting.write(contentsOf: Data("after\n".utf8))
        try target.fileHandleForWriting.close()
        let arrived = String(decoding: try #require(try target.fileHandleForReading.readToEnd()), as: UTF8.self)
        #expect(arrived == "1970-01-01T00:00:00.000Z info test: ordinary\nleaked \(text)\nafter\n")
        let report = audit.report()
        #expect(report.findings.map(\.stream) == ["the pipe"])
        #expect(report.byteCount == arrived.utf8.count - "after\n".utf8.count)
    }

    @Test func `the end of a tap restores the descriptor`() throws {
        let target = Pipe()
        do {
            let tap = try DescriptorTap(descriptor: target.fileHandleForWriting.fileDescriptor, as: "the pipe")
            try target.fileHandleForWriting.write(contentsOf: Data("before ".utf8))
            _ = consume tap
        }
        try target.fileHandleForWriting.write(contentsOf: Data("after".utf8))
        try target.fileHandleForWriting.close()
        #expect(try target.fileHandleForReading.readToEnd() == Data("before after".utf8))
    }

    @Test func `a megabyte at once passes through`() throws {
        let folder = "/tmp/lk-tap-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let bytes = Data((0..<1 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try Data().write(to: URL(fileURLWithPath: folder))
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: folder))
        let audit = LeakAudit()
        _ = try audit.plantRandom(AccessToken.self)
        let tap = try DescriptorTap(descriptor: file.fileDescriptor, as: "the file")
        try file.write(contentsOf: bytes)
        tap.finish(into: audit)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder)) == bytes)
        #expect(audit.report().byteCount == bytes.count && audit.report().isClean)
    }

    @Test func `a closed descriptor is refused`() {
        // Once more: what failed isn't listened to.
        for _ in 0..<2 {
            let error = #expect(throws: CaptureFailed.self) {
                _ = try DescriptorTap(descriptor: 987_654, as: "nothing")
            }
            #expect(error?.number == EBADF)
        }
    }
}
