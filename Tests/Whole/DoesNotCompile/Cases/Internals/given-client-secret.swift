// Compiled as a part of the package: outside it this has no name.
import LatchkeySignIn

private func leak(_ given: GivenClientSecret) {
    print(given.secret.byteCount)  // expected-error {{'secret' is inaccessible due to 'internal' protection level}}
}
