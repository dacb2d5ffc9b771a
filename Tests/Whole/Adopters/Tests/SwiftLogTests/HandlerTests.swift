import LatchkeyLog
import LatchkeySwiftLog
import Logging
import Testing

@Suite struct HandlerTests {
    @Test func `a line arrives with its level, category, fields and source`() throws {
        let bridge = Bridge()
        var logger = bridge.logger("shop.orders")
        logger[metadataKey: "shop"] = "berlin"
        logger.info(
            "order placed", metadata: ["order": "17", "items": ["pen", "ink"], "total": .stringConvertible(12)])
        let record = try #require(bridge.records.first)
        #expect(record.level == .info && "\(record.category.logMessage)" == "shop.orders")
        #expect(record.message.text == "order placed")
        #expect(record.fields.map(\.name) == ["source", "items", "order", "shop", "total"])
        #expect(record["items"] == "[pen, ink]" && record["order"] == "17" && record["total"] == "12")
        #expect(record["source"] == "SwiftLogTests")
    }

    @Test(
        arguments: [
            (Logger.Level.trace, LogLevel.trace, nil), (.debug, .debug, nil), (.info, .info, nil),
            (.notice, .info, "notice"), (.warning, .warning, nil), (.error, .error, nil),
            (.critical, .error, "critical"),
        ] as [(Logger.Level, LogLevel, String?)])
    func `each level of swift-log has a level of ours`(_ theirs: Logger.Level, _ ours: LogLevel, _ field: String?)
        throws
    {
        let bridge = Bridge()
        bridge.logger().log(level: theirs, "a line", file: "Shop/Order.swift", line: 7)
        let record = try #require(bridge.records.first)
        #expect(record.level == ours && record["swift_log_level"] == field)
        #expect(record["at"] == (theirs <= .debug ? "Shop/Order.swift:7" : nil))
    }

    @Test func `a line's metadata overrides the provider's, which overrides the logger's`() throws {
        let bridge = Bridge()
        var logger = bridge.logger(provider: .init { ["a": "provider", "b": "provider"] })
        for key in ["a", "b", "c"] { logger[metadataKey: key] = "logger" }
        logger.info("line", metadata: ["a": "line"])
        let record = try #require(bridge.records.first)
        #expect(record["a"] == "line" && record["b"] == "provider" && record["c"] == "logger")
    }

    @Test func `a line carries the current task's context`() throws {
        let bridge = Bridge()
        let logger = bridge.logger()
        LogContext.with("sign_in", CorrelationID()) {
            RedactedLogger("shop", sink: bridge.sink).info("ours")
            logger.info("theirs", metadata: ["sign_in": "forged"])
        }
        let (ours, theirs) = (bridge.records[0], bridge.records[1])
        #expect(ours["sign_in"]?.count == 16 && ours["sign_in"] == theirs["sign_in"])
        #expect(theirs["sign_in_"] == "forged")
    }

    @Test func `an error arrives in a separate field, with control characters escaped`() throws {
        struct Refused: Error { let host = "db\u{1B}[2J" }
        let bridge = Bridge()
        bridge.logger().error("failed", error: Refused())
        #expect(bridge.records.first?["error"] == #"Refused(host: "db\\u{1B}[2J")"#)
    }

    /// The test that swift-log asks of every handler.
    @Test func `level and metadata are values`() {
        let bridge = Bridge()
        var first = bridge.logger("first")
        first.logLevel = .debug
        first[metadataKey: "only-on"] = "first"
        var second = first
        second.logLevel = .error
        second[metadataKey: "only-on"] = "second"
        #expect(first.logLevel == .debug && second.logLevel == .error)
        #expect(first[metadataKey: "only-on"] == "first" && second[metadataKey: "only-on"] == "second")
        second.info("below its level")
        #expect(bridge.records.isEmpty)
    }

    @Test func `a marked value is withheld unless the program says what the mark means`() throws {
        let metadata: Logger.Metadata = [
            "user": "\("ada@example.org", sensitivity: .sensitive)", "path": "\("/orders", sensitivity: .public)",
            "plain": "text", "nested": ["user": "\("ada@example.org", sensitivity: .sensitive)"],
        ]
        let bridge = Bridge()
        bridge.logger().info("signed in", metadata: metadata)
        bridge.logger(showsMarked: { $0.attributes[Sensitivity.self] == .public }).info("signed in", metadata: metadata)
        let (strict, told) = (bridge.records[0], bridge.records[1])
        #expect(strict["user"] == "(withheld)" && strict["path"] == "(withheld)" && strict["plain"] == "text")
        #expect(told["user"] == "(withheld)" && told["path"] == "/orders")
        #expect(told["nested"] == "{user: (withheld)}" && !bridge.text.contains("ada@"))
    }

    @Test func `eight threads log with one handler, and no line is lost`() async {
        let bridge = Bridge()
        let logger = bridge.logger()
        await withTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for number in 0..<500 { logger.info("line \(number)", metadata: ["worker": "\(worker)"]) }
                }
            }
        }
        let records = bridge.records
        #expect(records.count == 4000)
        for worker in 0..<8 {
            let own = records.filter { $0["worker"] == "\(worker)" }.map(\.message.text)
            #expect(own == (0..<500).map { "line \($0)" })
        }
    }
}
