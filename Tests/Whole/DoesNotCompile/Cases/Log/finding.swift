import LatchkeyLog
import LatchkeyLeakAudit

private func leak(_ logger: RedactedLogger, _ finding: LeakFinding) {
    logger.error("\(finding.stream)")  // expected-error {{'appendInterpolation' is unavailable: a String may hold a secret}}
}
