import Foundation
import Testing
import TestServices

@testable import LatchkeyLog

@Suite struct LogSinkTests {
    static let record = LogEntry(
        level: .warning, category: "latchkey.store",
        message: "kept \(LoggableText(reviewed: "made up by a test", unredacted: "a\"b\\c\nd\u{1B}é🔑"))",
        timeNanoseconds: 1_767_323_045_678_999_999)

    /// What a sink writes to its descriptor.
    static func written(_ body: (Int32) throws -> Void) throws -> String {
        let pipe = Pipe()
        try body(pipe.fileHandleForWriting.fileDescriptor)
        try pipe.fileHandleForWriting.close()
        return String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    }

    @Test func `a record is one line of text`() throws {
        let text = try Self.written { TextLogSink(descriptor: $0).write(Self.record) }
        #expect(
            text == "2026-01-02T03:04:05.678Z warning latchkey.store: kept a\"b\\\\c\\u{a}d\\u{1b}é🔑\n")
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"), (951_782_400_000_999_999, "2000-02-29T00:00:00.000Z"),
        (4_102_444_799_999_000_000, "2099-12-31T23:59:59.999Z"), (.max, "2262-04-11T23:47:16.854Z"), (-1, "-1 ns"),
        (.min, "-9223372036854775808 ns"),
    ])
    func `each record has its time, whatever the clock`(_ nanoseconds: Int64, _ expected: String) {
        let record = LogEntry(level: .info, category: "test", message: "kept", timeNanoseconds: nanoseconds)
        #expect(LogLineFormat.text.line(record) == "\(expected) info test: kept\n")
    }

    @Test func `a record is one JSON object a line, which any reader accepts`() throws {
        let text = try Self.written { descriptor in
            let sink = TextLogSink(descriptor: descriptor, format: .json)
            sink.write(Self.record)
            sink.write(Self.record)
        }
        let lines = text.split(separator: "\n")
        #expect(lines.count == 2)
        for line in lines {
            let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
            #expect(
                object == [
                    "time": "2026-01-02T03:04:05.678Z", "level": "warning", "category": "latchkey.store",
                    "message": Self.record.message.text,
                ])
        }
    }

    @Test func `fields come after the message, in each form`() throws {
        let record = LogEntry(
            level: .info, category: "test", message: "kept", timeNanoseconds: 0,
            fields: [LogField("sign_in", 7), LogField("text", JournalLogSinkTests.made("a\nb\""))])
        #expect(LogLineFormat.text.line(record).hasSuffix("info test: kept sign_in=7 text=a\\u{a}b\"\n"))
        #expect(LogLineFormat.priorityPrefixed.line(record) == "<6>test: kept sign_in=7 text=a\\u{a}b\"\n")
        let object = try #require(
            JSONSerialization.jsonObject(with: Data(LogLineFormat.json.line(record).utf8)) as? [String: Any])
        #expect(object["fields"] as? [String: String] == ["sign_in": "7", "text": "a\\u{a}b\""])
        #expect(object.count == 5)
    }

    @Test(arguments: LogLineFormat.allCases)
    func `a message of megabytes is one bounded line`(_ format: LogLineFormat) {
        let piece = JournalLogSinkTests.made(String(repeating: "\u{1B}[31m", count: 100_000)).logMessage
        let message = LogMessage.joined(Array(repeating: piece, count: 100))
        let line = format.line(LogEntry(level: .info, category: "test", message: message, timeNanoseconds: 0))
        #expect(line.utf8.count < 2 * LogLineFormat.maximumMessageByteCount)
        #expect(line.utf8.count { $0 < 0x20 } == 1 && line.hasSuffix(format == .json ? "in all)\"}\n" : "in all)\n"))
    }

    @Test func `every scalar below U+3000 survives JSON`() throws {
        let scalars = (0..<0x3000).compactMap { Unicode.Scalar(UInt32($0)) } + ["\u{FEFF}", "\u{E0041}", "\u{10FFFF}"]
        var text = ""
        for scalar in scalars { text.unicodeScalars.append(scalar) }
        let quoted = JSONText.quote(text)
        #expect(quoted.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F })
        let read = try JSONSerialization.jsonObject(with: Data(quoted.utf8), options: .fragmentsAllowed) as? String
        #expect(read.map { Array($0.unicodeScalars) } == Array(text.unicodeScalars))
    }

    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z"), (999_999, "1970-01-01T00:00:00.000Z"),
        (1_000_000, "1970-01-01T00:00:00.001Z"), (951_782_400_000_000_000, "2000-02-29T00:00:00.000Z"),
        (4_102_444_799_999_000_000, "2099-12-31T23:59:59.999Z"),
    ])
    func `times are RFC 3339 in UTC with milliseconds`(_ nanoseconds: Int64, _ expected: String) {
        #expect(Timestamp.text(nanoseconds) == expected)
    }

    @Test func `lines of many tasks don't mix`() async throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        let reader = PipeReader(pipe)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    let logger = RedactedLogger("test", sink: TextLogSink(descriptor: descriptor))
                    let text = String(repeating: "abcdefghij"[task], count: 200)
                    for _ in 0..<100 {
                        logger.info("\(LoggableText(reviewed: "made up by a test", unredacted: text))")
                    }
                }
            }
        }
        try pipe.fileHandleForWriting.close()
        let lines = String(decoding: reader.finish(), as: UTF8.self).split(separator: "\n")
        #expect(lines.count == 800)
        #expect(lines.allSatisfy { Set($0.suffix(200)).count == 1 && $0.contains(" info test: ") })
    }

    @Test func `a sink drops the record if its descriptor accepts nothing`() {
        TextLogSink(descriptor: 987_654).write(Self.record)
        TextLogSink(descriptor: 987_654, format: .json).write(Self.record)
        let full = unsafe open("/dev/full", O_WRONLY)
        defer { close(full) }
        TextLogSink(descriptor: full).write(Self.record)
    }
}

extension String {
    fileprivate subscript(_ position: Int) -> Character { self[index(startIndex, offsetBy: position)] }
}
