import LatchkeyOAuth
import LatchkeyLog

func leak(_ logger: Logger, _ value: consuming DPoPKey) {
    logger.info("value \(value)")  // expected-error {{'appendInterpolation' is unavailable: only Loggable values can be logged: unwrap it, or conform its type to Loggable}}
}
