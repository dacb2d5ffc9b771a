// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyJSON
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeyOAuth
import LatchkeyLog
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyCommandLine
import LatchkeyProcess
import LatchkeyVault

private func show(
    _ logger: RedactedLogger, _ token: borrowing Secret<AccessToken>, _ key: CredentialKey, _ error: StoreError,
    _ text: String,
    _ seconds: Int?
) {
    logger.info("\(AccessToken.name) of \(token.byteCount) bytes for \(key)")
    logger.error("failed: \(error)")
    logger.info("outer \("inner \(key.kind)" as LogMessage)")
    logger.info("\(LoggableText(reviewed: "a name that everyone may see", unredacted: text))")
    logger.info(.joined(["a", "b"], separator: " "))
    if let seconds { logger.info("after \(seconds) s") }
    token.withExposedBytes { logger.info("\($0.count) bytes") }
    RedactedLogger("literal", sink: nil).info("x")
}

private func passOn(
    _ url: consuming AuthorizationURL, _ authorized: consuming AuthorizationResponse,
    _ callback: consuming ValidatedCallback,
    _ pending: consuming PendingAuthorization, _ challenge: consuming PKCEChallenge,
    _ response: consuming TokenResponse,
    _ authentication: consuming ClientAuthentication, _ document: consuming JSONDocument,
    _ writer: consuming JSONWriter,
    _ request: consuming GuardedRequest, _ reply: consuming GuardedResponse, _ asked: consuming LoopbackRequest,
    _ served: consuming LoopbackResponse, _ record: consuming CredentialRecord<AccessToken>,
    _ builder: consuming SecretBuilder, _ session: consuming StoredSession, _ source: consuming VaultKeySource,
    _ form: consuming FormFieldSink, _ field: consuming AuthorizationFieldSink,
    _ location: consuming RedirectLocationSink, _ terminal: consuming TerminalSecretSink
) {}
