import LatchkeyLog
import LatchkeyStoreContract

private func leak(_ logger: RedactedLogger, _ violation: ContractViolation) {
    logger.error("\(violation.detail)")  // expected-error {{'appendInterpolation' is unavailable: a String may hold a secret}}
}
