internal import CAllocations
internal import RedactedLog

/// What a log call costs.
enum LogCalls {
    private struct Nowhere: LogSink {
        func write(_ record: LogRecord) {}
    }

    static func run() async throws {
        let logger = Logger("latchkey.benchmark", minimumLevel: .info, sink: Nowhere())
        let batch = 1000
        func thousand(_ level: LogLevel) -> () -> Void {
            { for number in 0..<batch { logger.log(level, "refreshed item \(number) in \(Duration.seconds(1))") } }
        }
        Comparison(
            title: "A thousand log calls",
            rows: try await Measurement.take(
                count: 100, [("enabled, to a sink that drops it", thousand(.info)), ("disabled", thousand(.debug))])
        ).show()
        for (name, level) in [("enabled", LogLevel.info), ("disabled", .debug)] {
            let calls = thousand(level)
            let before = latchkey_allocation_count()
            calls()
            let after = latchkey_allocation_count()
            print("  allocations in a thousand calls, \(name): \(after - before)")
        }
    }
}
