import LatchkeyFoundation

private func leak(_ authenticator: OAuthAuthenticator) async throws {
    print(authenticator.service)  // expected-error {{'service' is inaccessible due to 'internal' protection level}}
}
