import Foundation
import Synchronization
import Testing
import TestServices

@testable import LatchkeyLog

/// The journal here is a socket that reads the documented protocol; see `StandInJournal`. What it got goes into a
/// journal file by systemd's own program, and journalctl reads it.
@Suite struct JournalLogSinkTests {
    static func made(_ text: String) -> LoggableText { LoggableText(reviewed: "made up by a test", unredacted: text) }

    @Test func `a record arrives with its fields`() throws {
        let directory = try TestDirectory()
        let journal = try StandInJournal(at: directory / "socket")
        let logger = RedactedLogger(
            "latchkey.store", minimumLevel: .trace, sink: try JournalLogSink(socketPath: journal.path)
        ).with("sign_in", 7).with("Größe-x", Self.made("a b"))
        for level in LogLevel.allCases { logger.log(level, "kept \(Self.made("é🔑\n\u{1B}")) at \(level)") }
        let entries = try journal.take()
        #expect(entries.map { $0["PRIORITY"] } == ["7", "7", "6", "4", "3"])
        #expect(entries.map { $0["LATCHKEY_LEVEL"] } == LogLevel.allCases.map { "\($0.name)" })
        for (entry, level) in zip(entries, LogLevel.allCases) {
            #expect(entry["MESSAGE"] == "kept é🔑\\u{a}\\u{1b} at \(level.name)")
            #expect(entry["SYSLOG_IDENTIFIER"] == "latchkey")
            #expect(entry["LATCHKEY_CATEGORY"] == "latchkey.store")
            #expect(entry["LATCHKEY_SIGN_IN"] == "7")
            // Every name is one that the journal takes: the stand-in refuses others.
            #expect(entry.fields.count == 7 && entry.fields[6].name.hasPrefix("LATCHKEY_GR"))
        }
    }

    @Test func `a value keeps its line break, and forges no field`() throws {
        let directory = try TestDirectory()
        let journal = try StandInJournal(at: directory / "socket")
        let sink = try JournalLogSink(socketPath: journal.path, identifier: "own-program", fieldPrefix: "OWN_")
        RedactedLogger("test", sink: sink).with("note", "first\nPRIORITY=0" as StaticString).info("two\nlines")
        RedactedLogger("test", sink: sink).info("\(Self.made("x\nPRIORITY=0\nMESSAGE=forged"))")
        let entries = try journal.take()
        #expect(entries.map { $0["MESSAGE"] } == ["two\nlines", "x\\u{a}PRIORITY=0\\u{a}MESSAGE=forged"])
        #expect(entries[0]["OWN_NOTE"] == "first\nPRIORITY=0")
        for entry in entries { #expect(entry.fields.count { $0.name == "PRIORITY" || $0.name == "MESSAGE" } == 2) }
        #expect(entries.allSatisfy { $0["SYSLOG_IDENTIFIER"] == "own-program" && $0["PRIORITY"] == "6" })
    }

    @Test func `journalctl reads each sent field back from a journal file`() async throws {
        let directory = try TestDirectory()
        let journal = try StandInJournal(at: directory / "socket")
        let logger = RedactedLogger("latchkey.store", sink: try JournalLogSink(socketPath: journal.path))
        logger.with("sign_in", 7).info("kept \(Self.made("é🔑\n\u{1B}")) at once")
        logger.with("sign_in", 8).with("note", "first\nPRIORITY=0" as StaticString).warning("two\nlines")
        logger.error("\(Self.made("x\nMESSAGE=forged"))")
        try await StandInJournal.write(try journal.take(), to: directory / "own.journal")
        func read(_ matches: String...) async throws -> [[String: String]] {
            let run = try await Program("journalctl").run(
                ["--file", directory / "own.journal", "--output=json", "--no-pager"] + matches
            ).successful("journalctl")
            return try run.outputText.split(separator: "\n").map { line in
                let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
                // Beside the fields of ours there are the journal's own.
                return fields.filter { !$0.key.hasPrefix("_") }.compactMapValues { $0 as? String }
            }
        }
        let common = ["SYSLOG_IDENTIFIER": "latchkey", "LATCHKEY_CATEGORY": "latchkey.store"]
        #expect(
            try await read() == [
                common.merging([
                    "MESSAGE": "kept é🔑\\u{a}\\u{1b} at once", "PRIORITY": "6", "LATCHKEY_LEVEL": "info",
                    "LATCHKEY_SIGN_IN": "7",
                ]) { $1 },
                common.merging([
                    "MESSAGE": "two\nlines", "PRIORITY": "4", "LATCHKEY_LEVEL": "warning", "LATCHKEY_SIGN_IN": "8",
                    "LATCHKEY_NOTE": "first\nPRIORITY=0",
                ]) { $1 },
                common.merging([
                    "MESSAGE": "x\\u{a}MESSAGE=forged", "PRIORITY": "3", "LATCHKEY_LEVEL": "error",
                ]) { $1 },
            ])
        // As Docs/HowTo/logging.md says: one sign-in of a program, and the grave alone.
        #expect(try await read("-t", "latchkey", "LATCHKEY_SIGN_IN=8").map { $0["MESSAGE"] } == ["two\nlines"])
        #expect(try await read("--priority=warning").count == 2)
    }

    @Test func `a record larger than a datagram arrives as a sealed file`() throws {
        let directory = try TestDirectory()
        let journal = try StandInJournal(at: directory / "socket")
        let sink = try JournalLogSink(socketPath: journal.path)
        var logger = RedactedLogger("test", sink: sink)
        // Each value is bounded, so it takes many to outgrow the kernel's datagrams.
        let names: [StaticString] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p"]
        let long = Self.made(String(repeating: "long ", count: 3000))
        let value = LogMessage.joined(Array(repeating: long.logMessage, count: 4))
        for name in names { logger = logger.with(name, value) }
        logger.warning("before")
        logger.category("other").warning("after")
        let entries = try journal.take()
        #expect(entries.map { $0["MESSAGE"] } == ["before", "after"])
        #expect(entries.allSatisfy { $0.isFile && $0["LATCHKEY_P"] == value.text })
        #expect(sink.lostRecordCount == 0)
    }

    @Test func `without a journal the sink reports the system's error number`() throws {
        let directory = try TestDirectory()
        func refused(_ path: String) -> Int32? {
            #expect(throws: JournalUnavailable.self) { _ = try JournalLogSink(socketPath: path) }?.number
        }
        #expect(refused(directory / "missing") == ENOENT)
        #expect(refused(try directory.write("file", "")) == ECONNREFUSED)
        #expect(refused("/" + String(repeating: "x", count: 200)) == ENAMETOOLONG)
        do { _ = try StandInJournal(at: directory / "gone") }
        #expect(
            JournalUnavailable(number: 2).description
                == "can't open the systemd journal: no such file or directory [log.no-journal]")
    }

    @Test func `a journal that restarts loses the records in between; the sink counts and reports them once`() throws {
        let directory = try TestDirectory()
        var journal: StandInJournal? = try StandInJournal(at: directory / "socket")
        let reports = Mutex<[LogTrouble]>([])
        let sink = try JournalLogSink(socketPath: directory / "socket") { trouble in
            reports.withLock { $0.append(trouble) }
        }
        let logger = RedactedLogger("test", sink: sink)
        logger.info("one")
        #expect(try journal?.take().count == 1)
        journal = nil
        for _ in 0..<3 { logger.info("lost") }
        #expect(sink.lostRecordCount == 3)
        let second = try StandInJournal(at: directory / "socket")
        logger.info("two")
        #expect(
            try second.take().map { $0["MESSAGE"] } == ["3 records were lost here: no such file or directory", "two"])
        #expect(sink.lostRecordCount == 0)
        #expect(reports.withLock { $0.map(\.number) } == [ENOENT])
    }

    @Test func `the sink doesn't wait for a journal that accepts nothing`() throws {
        let directory = try TestDirectory()
        let journal = try StandInJournal(at: directory / "socket")
        let reports = Mutex<[LogTrouble]>([])
        let sink = try JournalLogSink(socketPath: journal.path) { trouble in reports.withLock { $0.append(trouble) } }
        let logger = RedactedLogger("test", sink: sink)
        for number in 0..<2000 { logger.info("\(number)") }
        let lost = sink.lostRecordCount
        let first = try journal.take()
        #expect(lost > 0 && first.count + lost == 2000)
        logger.info("after")
        #expect(
            try journal.take().map { $0["MESSAGE"] } == [
                "\(lost) records were lost here: resource temporarily unavailable", "after",
            ])
        #expect(reports.withLock { $0.map(\.number) } == [EAGAIN])
    }
}
