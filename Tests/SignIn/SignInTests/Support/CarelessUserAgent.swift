import LatchkeyCredentials
import LatchkeyOAuth
import Testing
import TestSecrets

@testable import LatchkeySignIn

/// Brings the first response back without showing it to the gate.
struct CarelessUserAgent: RedirectUserAgent {
    func begin(_ redirect: RedirectURI) async throws(UserAgentError) -> any UserAgentAttempt {
        Attempt(redirect: redirect.withPort(9))
    }

    private final class Attempt: UserAgentAttempt {
        let redirect: RedirectURI

        init(redirect: RedirectURI) { self.redirect = redirect }

        func present(
            _ url: consuming AuthorizationURL, gate: AuthorizationResponseGate, deadline: Deadline
        ) async throws(UserAgentError) -> AuthorizationResponse {
            do {
                let location = try #require(try await Fetched.get(url.testText).location)
                return try AuthorizationResponse(pasted: Array(location.utf8).span, redirect: redirect)
            } catch {
                throw .unavailable(.pageFailed)
            }
        }

        func finish(_ outcome: SignInOutcome) async {}
    }
}
