// Compiled as a part of the package: outside it this has no name.
import LatchkeyLog

private func leak(_ logger: RedactedLogger, _ text: String) {
    logger.info(.joined(["a", "b"], separator: text))  // expected-error {{cannot convert value of type 'String' to expected argument type 'StaticString'}}
}
