import LatchkeyLog
import LatchkeySecrets

private func leak(_ logger: RedactedLogger, _ token: borrowing Secret<AccessToken>) {
    logger.info("token \(token)")  // expected-error {{'appendInterpolation' is unavailable: a secret can't be logged; log its purpose or its key instead}}
}
