import Foundation
import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(URLQueryItem(name: "token", value: token))  // expected-error {{cannot convert value of type 'Secret<AccessToken>' to expected argument type 'String'}}
}
