import LatchkeyFoundation
import LatchkeySecrets

private func leak(_ token: borrowing Secret<AccessToken>) {
    print(token.foundationText)  // expected-error {{'foundationText' is inaccessible due to 'internal' protection level}}
}
