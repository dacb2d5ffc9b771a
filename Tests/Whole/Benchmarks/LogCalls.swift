internal import CAllocations
internal import Glibc
internal import LatchkeyLog
internal import LatchkeySecrets

/// What a log call costs, beside `print` and C's fprintf(3) of the same line, all of them into /dev/null.
enum LogCalls {
    private struct Nowhere: LogSink {
        func write(_ record: LogEntry) {}
    }

    /// `print` buffers no line of its own here either: each call writes.
    private struct PrintTarget: TextOutputStream {
        let descriptor: Int32
        mutating func write(_ text: String) {
            var text = text
            text.withUTF8 { bytes in _ = unsafe Glibc.write(descriptor, bytes.baseAddress, bytes.count) }
        }
    }

    static func run() async throws {
        let logger = RedactedLogger("latchkey.benchmark", minimumLevel: .info, sink: Nowhere())
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
        try await besidePrint()
        for secretCount in [10, 100] { try await scrubbing(secretCount) }
    }

    /// What the last line adds to a line of 200 bytes, with so many secrets in use: no more than formatting it takes.
    private static func scrubbing(_ secretCount: Int) async throws {
        final class Kept: Sendable {
            let watched: WatchedSecret
            init(_ watched: consuming WatchedSecret) { self.watched = watched }
        }
        let live = LiveSecrets()
        let kept = try (0..<secretCount).map { _ in
            let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
            return Kept(live.watch(token))
        }
        let piece = LoggableText(reviewed: "made up", unredacted: String(repeating: "0123456789abcde ", count: 10))
        func thousand(_ sink: any LogSink) -> () -> Void {
            let logger = RedactedLogger("latchkey.benchmark", sink: sink)
            return { for number in 0..<1000 { logger.info("item \(number): \(piece) in \(Duration.seconds(1))") } }
        }
        Comparison(
            title: "A thousand lines of 200 bytes, \(secretCount) secrets in use", limit: 2,
            rows: try await Measurement.take(
                count: 50,
                [
                    ("formatted", thousand(Nowhere())),
                    ("formatted and scrubbed", thousand(ScrubbingLogSink(over: Nowhere(), secrets: live))),
                ])
        ).show()
        withExtendedLifetime(kept) {}
    }

    private static func besidePrint() async throws {
        let descriptor = unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { close(descriptor) }
        let stream = unsafe fdopen(dup(descriptor), "w")!
        defer { unsafe fclose(stream) }
        unsafe setvbuf(stream, nil, _IOLBF, 0)
        let text = RedactedLogger("latchkey.benchmark", sink: TextLogSink(descriptor: descriptor))
        let json = RedactedLogger("latchkey.benchmark", sink: TextLogSink(descriptor: descriptor, format: .json))
        Comparison(
            title: "A thousand lines into /dev/null",
            rows: try await Measurement.take(
                count: 20,
                [
                    (
                        "fprintf, line-buffered",
                        {
                            for number in 0..<1000 {
                                _ = unsafe withVaList([number, 1.0]) {
                                    unsafe vfprintf(
                                        stream, "info latchkey.benchmark: refreshed item %ld in %.3f s\n", $0)
                                }
                            }
                        }
                    ),
                    (
                        "print",
                        {
                            var target = PrintTarget(descriptor: descriptor)
                            for number in 0..<1000 {
                                print("info latchkey.benchmark: refreshed item \(number) in \(1.0) s", to: &target)
                            }
                        }
                    ),
                    (
                        "text, with the time",
                        { for number in 0..<1000 { text.info("refreshed item \(number) in \(Duration.seconds(1))") } }
                    ),
                    (
                        "JSON, with the time",
                        { for number in 0..<1000 { json.info("refreshed item \(number) in \(Duration.seconds(1))") } }
                    ),
                    (
                        "disabled",
                        { for number in 0..<1000 { text.trace("refreshed item \(number) in \(Duration.seconds(1))") } }
                    ),
                ])
        ).show()
    }
}
