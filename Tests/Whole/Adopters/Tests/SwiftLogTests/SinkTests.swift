import InMemoryLogging
import LatchkeyLog
import LatchkeySwiftLog
import Logging
import Testing

@Suite struct SinkTests {
    @Test(arguments: zip(LogLevel.allCases, [Logger.Level.trace, .debug, .info, .warning, .error]))
    func `a record of ours arrives with its level, category, fields and source`(
        _ ours: LogLevel, _ theirs: Logger.Level
    ) throws {
        let memory = InMemoryLogHandler()
        var logger = Logger(label: "shop") { _ in memory }
        logger.logLevel = .trace
        let log = RedactedLogger("shop.orders", minimumLevel: .trace, sink: SwiftLogSink(logger))
        LogContext.with("sign_in", CorrelationID()) {
            log.with("order", 17).log(ours, "placed in \(Duration.seconds(2))")
        }
        let entry = try #require(memory.entries.first)
        #expect(entry.level == theirs && entry.message.description == "placed in 2.000 s")
        #expect(entry.metadata["category"] == "shop.orders" && entry.metadata["order"] == "17")
        #expect(entry.metadata["sign_in"]?.description.count == 16)
    }

    @Test func `the logger's own level applies too`() {
        let memory = InMemoryLogHandler()
        var logger = Logger(label: "shop") { _ in memory }
        logger.logLevel = .error
        RedactedLogger("shop", minimumLevel: .trace, sink: SwiftLogSink(logger)).warning("below")
        #expect(memory.entries.isEmpty)
    }

    @Test func `our messages come back unchanged`() throws {
        let bridge = Bridge()
        RedactedLogger("shop", sink: SwiftLogSink(bridge.logger())).with("order", 17).error("refused")
        let record = try #require(bridge.records.first)
        #expect(record.level == .error && record.message.text == "refused" && record["order"] == "17")
        #expect(record["category_"] == "shop" && record["source"] == "Latchkey")
    }
}
