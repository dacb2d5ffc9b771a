import LatchkeyLog
import LatchkeySecrets

private func leak(_ logger: RedactedLogger, _ token: borrowing Secret<AccessToken>) {
    token.withExposedBytes { logger.info("token \($0)") }  // expected-error {{'appendInterpolation' is unavailable: bytes may hold a secret; log their count instead}}
}
