import LatchkeyLog
import Synchronization
import Testing

@Suite struct LoggerTests {
    static func log(at minimum: LogLevel, _ body: (RedactedLogger) -> Void) -> [LogEntry] {
        let sink = MemoryLogSink()
        body(RedactedLogger("latchkey.test", minimumLevel: minimum, sink: sink))
        return sink.records
    }

    @Test(arguments: LogLevel.allCases)
    func `a logger writes its level and those above`(_ minimum: LogLevel) {
        let records = Self.log(at: minimum) { logger in
            logger.trace("1")
            logger.debug("2")
            logger.info("3")
            logger.warning("4")
            logger.error("5")
            logger.log(minimum, "6")
        }
        #expect(records.map(\.level) == LogLevel.allCases.filter { $0 >= minimum } + [minimum])
        #expect(records.map(\.message.text) == (minimum.rawValue + 1...5).map { "\($0)" } + ["6"])
    }

    @Test func `levels are in order, and each has the name that the command line takes`() {
        #expect(LogLevel.allCases.sorted() == [.trace, .debug, .info, .warning, .error])
        #expect(LogLevel.allCases.map { "\($0.name)" } == ["trace", "debug", "info", "warning", "error"])
    }

    /// Counts how often it is formatted.
    final class Counted: Loggable, Sendable {
        let count = Atomic(0)
        var logMessage: LogMessage {
            count.add(1, ordering: .relaxed)
            return "counted"
        }
    }

    @Test func `a disabled level formats nothing`() {
        let counted = Counted()
        func argument() -> Counted {
            counted.count.add(100, ordering: .relaxed)
            return counted
        }
        let records = Self.log(at: .warning) { logger in
            logger.debug("value \(argument())")
            logger.info("value \(counted)")
            logger.log(.trace, "value \(argument())")
            logger.category("other").info("value \(counted)")
        }
        RedactedLogger("test", minimumLevel: .trace, sink: nil).error("value \(counted)")
        RedactedLogger.disabled.error("value \(argument())")
        #expect(records.isEmpty && counted.count.load(ordering: .relaxed) == 0)
    }

    @Test func `an enabled level formats once`() {
        let counted = Counted()
        let records = Self.log(at: .warning) { $0.warning("value \(counted)") }
        #expect(records.map(\.message.text) == ["value counted"] && counted.count.load(ordering: .relaxed) == 1)
    }

    @Test func `another category has the same sink and level`() {
        let records = Self.log(at: .info) { logger in
            logger.info("1")
            logger.category("latchkey.github.auth").info("2")
            logger.category("latchkey.github.auth").debug("3")
        }
        #expect(records.map { "\($0.category.name)" } == ["latchkey.test", "latchkey.github.auth"])
    }

    @Test func `records of one task come in order, and every record of many tasks comes`() async {
        let sink = MemoryLogSink()
        let logger = RedactedLogger("test", sink: sink)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<20 {
                group.addTask { for number in 0..<50 { logger.info("\(task) \(number)") } }
            }
        }
        #expect(sink.records.count == 1000)
        for task in 0..<20 {
            let own = sink.records.map(\.message.text).filter { $0.hasPrefix("\(task) ") }
            #expect(own == (0..<50).map { "\(task) \($0)" })
        }
        #expect(sink.records.allSatisfy { $0.timeNanoseconds > 1_700_000_000_000_000_000 })
    }

    @Test func `fields go with each message, and a later field replaces an earlier one of the same name`() {
        let sink = MemoryLogSink()
        let id = CorrelationID()
        let logger = RedactedLogger("test", sink: sink).with("sign_in", id).with("try", 1)
        logger.info("one")
        logger.category("other").with("try", 2).info("two")
        #expect(sink.records.map { $0.fields.map(\.name) } == [["sign_in", "try"], ["sign_in", "try"]])
        #expect(sink.records.map { $0.fields[1].value.text } == ["1", "2"])
        #expect(Set(sink.records.map { $0.fields[0].value.text }) == [id.logMessage.text])
        #expect(id.logMessage.text.utf8.count == 16 && id != CorrelationID())
    }

    @Test func `a logger made from the context has its fields everywhere`() {
        let sink = MemoryLogSink()
        let logger = RedactedLogger("test", sink: sink).with("own", 1)
        let kept = LogContext.with("order", 7) { LogContext.with("own", 2) { logger.keepingContext() } }
        kept.info("outside")
        LogContext.with("order", 8) { kept.info("in another") }
        logger.info("as before")
        #expect(
            sink.records.map { $0.fields.map { "\($0.name)=\($0.value.text)" } } == [
                ["order=7", "own=1"], ["order=7", "own=1"], ["own=1"],
            ])
    }

    @Test func `a context's field goes with all records of its tasks, and a logger's own field wins`() async {
        let sink = MemoryLogSink()
        let logger = RedactedLogger("test", sink: sink)
        let task = LogContext.with("sign_in", 1) {
            Task {
                logger.info("one")
                await Task { logger.with("sign_in", 2).info("two") }.value
                LogContext.with("step", 3) { logger.info("three") }
            }
        }
        await task.value
        logger.info("four")
        let fields = sink.records.map { $0.fields.map { "\($0.name)=\($0.value.text)" }.joined(separator: " ") }
        #expect(fields == ["sign_in=1", "sign_in=2", "sign_in=1 step=3", ""])
    }

    @Test func `an asynchronous body has the context's field too`() async {
        let sink = MemoryLogSink()
        let logger = RedactedLogger("test", sink: sink)
        let number = await LogContext.with("request", 4) {
            logger.info("one")
            await Task.yield()
            logger.info("two")
            return 5
        }
        logger.info("three")
        #expect(number == 5 && sink.records.map(\.fields.count) == [1, 1, 0])
    }
}
