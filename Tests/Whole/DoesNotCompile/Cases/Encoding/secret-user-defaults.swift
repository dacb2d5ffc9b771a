import Foundation
import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    UserDefaults.standard.set(token, forKey: "token")  // expected-error {{no exact matches in call to instance method 'set'}}
}
