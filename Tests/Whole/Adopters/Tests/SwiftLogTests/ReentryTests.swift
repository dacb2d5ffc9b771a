import Glibc
import LatchkeyLog
import LatchkeySwiftLog
import Logging
import Synchronization
import Testing

/// What begins a line in the middle of another. How many lines were dropped is the process's, so one at a time.
@Suite(.serialized) struct ReentryTests {
    /// Logs with a logger that it is given later.
    private final class Echo: Sendable, CustomStringConvertible {
        let logger = Mutex<Logger?>(nil)
        func say() { logger.withLock(\.self)?.info("from within") }
        var description: String {
            say()
            return "described"
        }
    }

    @Test func `a provider that logs is asked once, and its line is counted`() throws {
        let bridge = Bridge()
        let echo = Echo()
        let calls = Atomic(0)
        let logger = bridge.logger(
            provider: .init {
                calls.add(1, ordering: .relaxed)
                echo.say()
                return ["provided": "yes"]
            })
        echo.logger.withLock { $0 = logger }
        // Takes what other tests left.
        bridge.logger().info("first")
        logger.info("one")
        #expect(calls.load(ordering: .relaxed) == 1)
        #expect(bridge.records.map(\.message.text) == ["first", "one"])
        #expect(bridge.records[1]["provided"] == "yes" && bridge.records[1]["lines_dropped"] == "1")
        bridge.logger().info("two")
        #expect(bridge.records[2]["lines_dropped"] == nil)
    }

    @Test func `a value whose description logs is described once`() throws {
        let bridge = Bridge()
        let echo = Echo()
        echo.logger.withLock { $0 = bridge.logger() }
        bridge.logger().info("one", metadata: ["value": .stringConvertible(echo)])
        #expect(bridge.records.map(\.message.text) == ["one"] && bridge.records[0]["value"] == "described")
    }

    /// swift-log leads to our sink, which leads to swift-log, and so on.
    @Test func `handlers that log to each other stop`() {
        final class Circle: LogSink {
            let next = Mutex<SwiftLogSink?>(nil)
            let count = Atomic(0)
            func write(_ record: LogEntry) {
                count.add(1, ordering: .relaxed)
                next.withLock(\.self)?.write(record)
            }
        }
        let circle = Circle()
        let logger = Logger(label: "circle") { RedactedLogHandler(label: $0, sink: circle, secrets: LiveSecrets()) }
        circle.next.withLock { $0 = SwiftLogSink(logger) }
        logger.info("round")
        #expect(circle.count.load(ordering: .relaxed) == 1)
        // What came too late for its own line is told by the next.
        let bridge = Bridge()
        bridge.logger().info("next")
        #expect(bridge.records[0]["lines_dropped"] == "1")
        // From our side it is the same: the sink hands over, and the handler's sink hands over once more.
        RedactedLogger("ours", sink: SwiftLogSink(logger)).info("round")
        #expect(circle.count.load(ordering: .relaxed) == 2)
    }

    /// A sink that a signal interrupts, on the same thread and under a lock of its own, as sinks have: the second line
    /// would wait for the first without end.
    @Test func `a signal's handler that logs in the middle of a line doesn't wait for itself`() {
        final class Locked: LogSink {
            let lines = Mutex<[String]>([])
            func write(_ record: LogEntry) {
                lines.withLock { lines in
                    lines.append(record.message.text)
                    raise(SIGUSR1)
                }
            }
        }
        enum Signalled {
            static let sink = Locked()
            static let logger = Logger(label: "signal") {
                RedactedLogHandler(label: $0, sink: sink, secrets: LiveSecrets())
            }
        }
        let before = signal(SIGUSR1) { _ in Signalled.logger.info("from the signal") }
        Signalled.logger.info("one")
        signal(SIGUSR1, before)
        #expect(Signalled.sink.lines.withLock(\.self) == ["one"])
    }
}
