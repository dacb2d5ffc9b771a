import Glibc
import LatchkeyLog
import LatchkeySwiftLog
import Logging

// What a line through the bridge costs, beside swift-log's own handler, both into the same descriptor:
//
//     Tests/adopters benchmark
//
// Only the ratios within one run mean anything. The result is on standard output, the lines on standard error.

let sink = TextLogSink()
let secrets = LiveSecrets()

/// Secrets in use, for the search to look for.
final class Watched: Sendable {
    let secret: WatchedSecret
    init(_ secret: consuming WatchedSecret) { self.secret = secret }
}

let watched = try (0..<20).map { _ in
    let token = try Secret<AccessToken>.random(byteCount: 32).base64URLEncoded()
    return Watched(secrets.watch(token))
}

func median(_ times: [Duration]) -> Double {
    let sorted = times.sorted()
    return sorted[sorted.count / 2] / .microseconds(1)
}

let lines: [(String, @Sendable (Logger, Int) -> Void)] = [
    ("a message alone", { logger, number in logger.info("request \(number) was answered") }),
    (
        "with three keys",
        { logger, number in
            logger.info(
                "request was answered",
                metadata: ["request-id": "\(number)", "path": "/orders/1789?page=2", "status": "200"])
        }
    ),
    (
        "a message of 200 bytes, two keys",
        { logger, number in
            logger.info(
                """
                connection 0x7f3a to api.example.org:443 is idle and goes back to the pool, where four others wait; it \
                was used for a hundred requests and is closed after sixty seconds without one.
                """,
                metadata: ["request-id": "\(number)", "pool": "h2"])
        }
    ),
]

for (name, line) in lines {
    let loggers = [
        Logger(label: "shop") { StreamLogHandler.standardError(label: $0) },
        Logger(label: "shop") { RedactedLogHandler(label: $0, sink: sink, secrets: secrets) },
    ]
    var times: [[Duration]] = [[], []]
    for _ in 0..<21 {
        for (index, logger) in loggers.enumerated() {
            let start = ContinuousClock.now
            for number in 0..<2000 { line(logger, number) }
            times[index].append(start.duration(to: .now) / 2000)
        }
    }
    let (theirs, ours) = (median(times[0]), median(times[1]))
    func rounded(_ value: Double) -> Double { (value * 100).rounded() / 100 }
    print("\(name): StreamLogHandler \(rounded(theirs)) µs, RedactedLogHandler \(rounded(ours)) µs")
    print("  \(rounded(ours / theirs)) ×, \(ours / theirs <= 1.5 ? "within" : "OVER") the limit of 1.5 ×")
}
withExtendedLifetime(watched) {}
