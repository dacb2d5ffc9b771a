import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ seconds: Int?) {
    logger.info("after \(seconds)")  // expected-error {{string interpolation produces a debug description for an optional value; did you mean to make this explicit?}} expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
