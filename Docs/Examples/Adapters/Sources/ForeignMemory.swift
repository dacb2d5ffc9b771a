import Foundation
import Latchkey

/// The way out to packages that know no guarded memory: from here on a secret is in ordinary memory, and in their copies.
struct ForeignMemory: SecretSink {
    static var reason: StaticString { "another package takes logins and requests as ordinary data" }

    private(set) var data = Data()

    mutating func receive(_ bytes: Span<UInt8>) {
        for index in bytes.indices { data.append(bytes[index]) }
    }

    static func data<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>) -> Data {
        var memory = ForeignMemory()
        secret.pour(into: &memory)
        return memory.data
    }

    static func text(of secret: borrowing Secret<MessageBody>?) -> String? {
        switch secret {
        case .some(let secret): String(decoding: data(of: secret), as: UTF8.self)
        case .none: nil
        }
    }
}
