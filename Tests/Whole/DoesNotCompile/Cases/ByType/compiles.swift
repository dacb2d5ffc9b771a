// Compiled as a part of the package: some of these modules have nothing public.
import LatchkeyFoundation
import LatchkeyCredentials
import LatchkeyHTTP
import LatchkeyLoopback
import LatchkeyOAuth
import LatchkeySecrets

private func exchange(_ callback: consuming ValidatedCallback) {}

private func use(_ callback: consuming ValidatedCallback, _ lease: consuming Lease) {
    exchange(callback)
    lease.release()
}

private func replace(_ tokens: inout OAuthAuthenticator.TokenHandling) {
    tokens.authorizationURLProvider = { pending in try pending.authorizationURL().takeAddress() }
    tokens.loginProvider = { callback, endpoint, authentication in
        try await endpoint.exchange(callback, authentication: authentication)
    }
}
