// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyJSON
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeyOAuth
import LatchkeySecrets
import LatchkeySignIn
import LatchkeyCommandLine
import LatchkeyProcess
import LatchkeyVault

private func show(_ token: borrowing Secret<AccessToken>) -> String {
    "sign-in \("\(AccessToken.name) of \(token.byteCount) bytes")"
}

private func passOn(
    _ url: consuming AuthorizationURL, _ authorized: consuming AuthorizationResponse,
    _ callback: consuming ValidatedCallback,
    _ pending: consuming PendingAuthorization, _ challenge: consuming PKCEChallenge, _ key: consuming ES256Key,
    _ device: consuming DeviceAuthorization, _ identity: consuming ClientIdentity, _ response: consuming TokenResponse,
    _ authentication: consuming ClientAuthentication, _ document: consuming JSONDocument,
    _ writer: consuming JSONWriter,
    _ request: consuming GuardedRequest, _ reply: consuming GuardedResponse, _ asked: consuming LoopbackRequest,
    _ served: consuming LoopbackResponse, _ record: consuming CredentialRecord<AccessToken>,
    _ builder: consuming SecretBuilder, _ session: consuming StoredSession, _ source: consuming VaultKeySource,
    _ form: consuming FormFieldSink, _ field: consuming AuthorizationFieldSink,
    _ location: consuming RedirectLocationSink, _ terminal: consuming TerminalSecretSink
) {}
