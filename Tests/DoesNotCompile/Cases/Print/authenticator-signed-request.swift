import LatchkeyAuthenticator
import LatchkeyHTTP

func leak(_ authenticator: Authenticator, _ request: consuming HTTPRequest) async throws {
    print(try await authenticator.authenticated(request))  // expected-error {{argument type 'HTTPRequest' does not conform to expected type 'Copyable'}}
}
