import Foundation
import Synchronization
import Testing
import TestServices

@testable import LatchkeyLog

/// A sink that can't write never takes the program down, and is reported once.
@Suite struct BrokenSinkTests {
    final class Reports: Sendable {
        private let kept = Mutex<[Int32]>([])
        var handler: @Sendable (LogTrouble) -> Void { { trouble in self.kept.withLock { $0.append(trouble.number) } } }
        var numbers: [Int32] { kept.withLock { $0 } }
    }

    static func made(_ text: String) -> LoggableText { LoggableText(reviewed: "made up by a test", unredacted: text) }

    // MARK: - A pipe without a reader

    /// Were the signal not held back, it would end the process that runs the tests.
    @Test(arguments: LogLineFormat.allCases)
    func `a pipe that was closed doesn't end the program`(_ format: LogLineFormat) async throws {
        let pipe = Pipe()
        try pipe.fileHandleForReading.close()
        let reports = Reports()
        let sink = TextLogSink(
            descriptor: pipe.fileHandleForWriting.fileDescriptor, format: format, reporting: reports.handler)
        let logger = RedactedLogger("test", sink: sink)
        // A thread of its own, on which nobody else holds the signal back.
        let (isPending, isHeldBack) = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var (signal, pending, mask) = (sigset_t(), sigset_t(), sigset_t())
                unsafe sigemptyset(&signal)
                unsafe sigaddset(&signal, SIGPIPE)
                unsafe pthread_sigmask(SIG_UNBLOCK, &signal, nil)
                for number in 0..<3 { logger.info("line \(number)") }
                unsafe sigpending(&pending)
                unsafe pthread_sigmask(SIG_BLOCK, nil, &mask)
                let (isPending, isHeldBack) = unsafe (sigismember(&pending, SIGPIPE), sigismember(&mask, SIGPIPE))
                continuation.resume(returning: (isPending == 1, isHeldBack == 1))
            }
        }
        #expect(sink.lostRecordCount == 3 && reports.numbers == [EPIPE])
        #expect(!isPending && !isHeldBack)
    }

    /// Who was told held the sink's lock, and ended the program.
    @Test func `the first loss can be logged to the same sink`() throws {
        let logger = Mutex<RedactedLogger?>(nil)
        let handler: @Sendable (LogTrouble) -> Void = { trouble in logger.withLock(\.self)?.error("\(trouble)") }
        var ends: [Int32] = [0, 0]
        #expect(unsafe pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        let sink = TextLogSink(descriptor: ends[1], reporting: handler)
        logger.withLock { $0 = RedactedLogger("test", sink: sink) }
        logger.withLock(\.self)?.info("line")
        #expect(sink.lostRecordCount == 2)
        let file = FileLogSink(path: "/nonexistent/log", reporting: handler)
        logger.withLock { $0 = RedactedLogger("test", sink: file) }
        logger.withLock(\.self)?.info("line")
        #expect(file.lostRecordCount == 2)
    }

    @Test func `a path isn't cut at a NUL`() throws {
        let directory = try TestDirectory()
        let sink = FileLogSink(path: directory / "log\0x")
        RedactedLogger("test", sink: sink).info("line")
        #expect(sink.lostRecordCount == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
    }

    /// A terminal is ready for a byte, and a write of more waited for its reader.
    @Test(.timeLimit(.minutes(5)), arguments: [false, true]) func `a reader that takes nothing stops nobody`(
        isTerminal: Bool
    ) throws {
        var ends: [Int32] = [-1, -1]
        if isTerminal {
            // ptmx(4) and ioctl_tty(2): TIOCSPTLCK, TIOCGPTN.
            ends[0] = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY)
            var (lock, number) = (Int32(0), Int32(-1))
            let isUnlocked = unsafe ioctl(ends[0], 0x4004_5431, &lock) == 0
            let isNumbered = unsafe ioctl(ends[0], 0x8004_5430, &number) == 0
            try #require(isUnlocked && isNumbered)
            ends[1] = unsafe open("/dev/pts/\(number)", O_WRONLY | O_NOCTTY)
        } else {
            let isMade = unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0
            try #require(isMade)
        }
        defer { for end in ends { close(end) } }
        let reports = Reports()
        let sink = TextLogSink(descriptor: ends[1], reporting: reports.handler)
        let log = RedactedLogger("test", sink: sink)
        for _ in 0..<100 { log.info("\(Self.made(String(repeating: "x", count: 9000)))") }
        #expect(sink.lostRecordCount > 0 && reports.numbers == [EAGAIN])
        #expect(fcntl(ends[1], F_GETFL) & O_NONBLOCK == 0)
    }

    @Test func `a socket whose peer has closed doesn't end the program`() throws {
        var ends: [Int32] = [0, 0]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        close(ends[1])
        defer { close(ends[0]) }
        let sink = TextLogSink(descriptor: ends[0], format: .json)
        RedactedLogger("test", sink: sink).info("line")
        #expect(sink.lostRecordCount == 1)
    }

    // MARK: - A full disk

    @Test func `a full disk is reported once, and lost records are counted`() throws {
        let reports = Reports()
        let full = unsafe open("/dev/full", O_WRONLY)
        defer { close(full) }
        let sink = TextLogSink(descriptor: full, format: .json, reporting: reports.handler)
        let logger = RedactedLogger("test", sink: sink)
        for number in 0..<5 { logger.info("line \(number)") }
        #expect(sink.lostRecordCount == 5 && reports.numbers == [ENOSPC])
    }

    @Test func `once the disk has room, the count comes first and then the line`() throws {
        let directory = try TestDirectory()
        let path = directory / "log"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT, 0o600)
        defer { close(descriptor) }
        let other = unsafe open("/dev/full", O_WRONLY)
        let kept = dup(descriptor)
        defer { close(kept) }
        let sink = TextLogSink(descriptor: descriptor, format: .priorityPrefixed)
        let logger = RedactedLogger("test", sink: sink)
        logger.info("one")
        dup2(other, descriptor)
        for _ in 0..<4 { logger.info("lost") }
        dup2(kept, descriptor)
        logger.error("two")
        logger.trace("not logged")
        logger.info("three")
        #expect(
            String(decoding: try directory.read("log"), as: UTF8.self)
                == "<6>test: one\n<4>latchkey.log: 4 records were lost here: no space left on device errno=28\n<3>test: two\n<6>test: three\n"
        )
        #expect(sink.lostRecordCount == 0)
        close(other)
    }

    // MARK: - A reader that doesn't read

    @Test func `a slow reader delays no task, and later gets the number of missed records`() throws {
        let pipe = Pipe()
        let sink = TextLogSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, format: .priorityPrefixed)
        let logger = RedactedLogger("test", sink: sink)
        let text = Self.made(String(repeating: "x", count: 1000))
        // Far more than a pipe holds: without the limit this would never come back.
        for _ in 0..<500 { logger.info("\(text)") }
        let lost = sink.lostRecordCount
        #expect(lost > 100)
        // Reading begins: what was written is whole lines, then the count.
        let reader = PipeReader(pipe)
        while sink.lostRecordCount > 0 {
            logger.info("after")
            usleep(1000)
        }
        try pipe.fileHandleForWriting.close()
        let lines = String(decoding: reader.finish(), as: UTF8.self).split(separator: "\n")
        let whole = lines.filter { $0.hasPrefix("<6>test: xxx") }
        #expect(whole.count == 500 - lost && whole.allSatisfy { $0.utf8.count == 1009 })
        let note = try #require(lines.first { $0.contains("records were lost") })
        #expect(note.hasSuffix("records were lost here: resource temporarily unavailable errno=11"))
        #expect(lines.last == "<6>test: after")
    }

    // MARK: - A file

    @Test func `a log file is private, grows, and is created again after a rotation`() throws {
        let directory = try TestDirectory()
        let sink = FileLogSink(path: directory / "log", format: .priorityPrefixed)
        let logger = RedactedLogger("test", sink: sink)
        logger.info("one")
        logger.info("two")
        #expect(unsafe rename(directory / "log", directory / "log.1") == 0)
        logger.info("three")
        #expect(unsafe unlink(directory / "log") == 0)
        logger.info("four")
        #expect(String(decoding: try directory.read("log.1"), as: UTF8.self) == "<6>test: one\n<6>test: two\n")
        #expect(String(decoding: try directory.read("log"), as: UTF8.self) == "<6>test: four\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: directory / "log")
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(sink.lostRecordCount == 0)
    }

    @Test func `many tasks and a rotation lose no line`() async throws {
        let directory = try TestDirectory()
        let sink = FileLogSink(path: directory / "log", format: .priorityPrefixed)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                let logger = RedactedLogger("test", sink: sink)
                group.addTask { for number in 0..<200 { logger.info("\(task) \(number)") } }
            }
            group.addTask {
                for number in 0..<5 { _ = unsafe rename(directory / "log", directory / "log.\(number)") }
            }
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        var lines: [Substring] = []
        for name in names {
            lines += String(decoding: try directory.read(name), as: UTF8.self).split(separator: "\n")
        }
        #expect(lines.count == 800 && Set(lines).count == 800)
    }

    @Test func `a file that can't be opened loses records until it can, and is reported once`() throws {
        let directory = try TestDirectory()
        let reports = Reports()
        let path = directory / "folder/log"
        let sink = FileLogSink(path: path, format: .json, reporting: reports.handler)
        let logger = RedactedLogger("test", sink: sink)
        logger.info("one")
        logger.info("two")
        #expect(sink.lostRecordCount == 2 && reports.numbers == [ENOENT])
        try directory.makeFolder("folder")
        logger.info("three")
        let text = String(decoding: try directory.read("folder/log"), as: UTF8.self)
        #expect(
            text.split(separator: "\n").count == 2
                && text.contains("2 records were lost here: no such file or directory"))
    }

    @Test func `a link, a pipe and a device at the file's place are refused`() throws {
        let directory = try TestDirectory()
        let target = try directory.write("target", "as it was")
        #expect(unsafe symlink(target, directory / "link") == 0)
        #expect(unsafe mkfifo(directory / "pipe", 0o600) == 0)
        for path in [directory / "link", directory / "pipe", "/dev/full", directory.path] {
            let sink = FileLogSink(path: path)
            RedactedLogger("test", sink: sink).info("line")
            #expect(sink.lostRecordCount == 1, "\(path)")
        }
        #expect(try directory.read("target") == Array("as it was".utf8))
    }
}
