import Foundation
import LatchkeySecrets

private func leak(_ token: consuming Secret<AccessToken>) {
    print(Data(token))  // expected-error {{no exact matches in call to initializer}}
}
