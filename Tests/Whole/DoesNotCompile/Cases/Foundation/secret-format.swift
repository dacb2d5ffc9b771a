import Foundation
import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(String(format: "%@", token))  // expected-error {{argument type 'Secret<AccessToken>' does not conform to expected type 'CVarArg'}}
}
