import Foundation
import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    NSLog("%@", token)  // expected-error {{argument type 'Secret<AccessToken>' does not conform to expected type 'CVarArg'}}
}
