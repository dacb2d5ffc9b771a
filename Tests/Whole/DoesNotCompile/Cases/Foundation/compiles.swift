import Foundation
import LatchkeySecrets

private func show(_ token: borrowing Secret<AccessToken>) {
    NSLog("%d", token.byteCount)
    print(String(format: "%d", token.byteCount), Data([UInt8(1)]), URLQueryItem(name: "bytes", value: "1"))
    NotificationCenter.default.post(name: Notification.Name("token"), object: token.byteCount)
}
