import LatchkeyFoundation
import LatchkeyHTTP

private func leak(_ authenticator: OAuthAuthenticator, _ request: consuming GuardedRequest) async throws {
    print(try await authenticator.authenticated(request))  // expected-error {{argument type 'GuardedRequest' does not conform to expected type 'Copyable'}}
}
