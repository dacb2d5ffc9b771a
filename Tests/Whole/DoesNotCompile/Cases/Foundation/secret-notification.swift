import Foundation
import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    NotificationCenter.default.post(name: Notification.Name("token"), object: token)  // expected-error {{argument type 'Secret<AccessToken>' does not conform to expected type 'Copyable'}}
}
