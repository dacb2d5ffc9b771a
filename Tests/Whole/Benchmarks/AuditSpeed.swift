internal import LatchkeyLeakAudit
internal import LatchkeySecrets

/// How fast the audit searches: 50 random secrets with all their encodings, and the forms of well-known tokens, in a
/// log without a finding.
enum AuditSpeed {
    /// In MB (1,000,000 bytes) a second.
    private static let limit = 200.0

    static func run() throws {
        let audit = LeakAudit()
        for _ in 0..<50 { _ = try audit.plantRandom(AccessToken.self) }
        let line = Array(
            "2026-01-02T03:04:05.678Z info latchkey.github.auth: refreshed github/ada in 0.123 s, commit ".utf8)
        var generator = SystemRandomNumberGenerator()
        var text: [UInt8] = []
        while text.count < 64_000_000 {
            text += line
            for _ in 0..<4 { text += Array(String(generator.next() as UInt64, radix: 16).utf8) }
            text.append(0x0A)
        }
        audit.capture(text, as: "a log")
        var times: [Duration] = []
        for _ in 0..<5 {
            let start = ContinuousClock.now
            let report = audit.report()
            times.append(start.duration(to: .now))
            guard report.isClean else { throw Unclean(report: report) }
        }
        let seconds = times.sorted()[2] / .seconds(1)
        let speed = Double(text.count) / 1e6 / seconds
        print("\nAn audit of 64 MB of log for 50 secrets with all encodings")
        print("  \(Int(speed)) MB/s; \(speed >= limit ? "within" : "UNDER") the limit of \(Int(limit)) MB/s")
    }

    private struct Unclean: Error {
        let report: LeakReport
    }
}
