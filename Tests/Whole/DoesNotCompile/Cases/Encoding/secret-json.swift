import Foundation
import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) throws {
    print(try JSONEncoder().encode(token))  // expected-error {{instance method 'encode' requires that 'Secret<AccessToken>' conform to 'Encodable'}}
}
