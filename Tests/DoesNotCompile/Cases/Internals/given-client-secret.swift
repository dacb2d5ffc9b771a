import LatchkeySignIn

func leak(_ given: OAuthAuthenticator.ClientSecret) {
    print(given.secret.byteCount)  // expected-error {{'secret' is inaccessible due to 'internal' protection level}}
}
