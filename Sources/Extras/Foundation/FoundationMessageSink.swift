internal import LatchkeySystem
internal import Foundation
internal import LatchkeySecrets

/// The sink through which a request's fields and body reach Foundation, and a response's body the caller.
///
/// Foundation knows no guarded memory: from here on it is ordinary data, in Foundation's copies as well.
struct FoundationMessageSink: SecretSink {
    static var reason: StaticString { "Foundation takes and gives messages as ordinary text and data" }

    private(set) var data = Data()

    mutating func receive(_ bytes: Span<UInt8>) {
        unsafe bytes.withUnsafeBytes { unsafe data.append(contentsOf: $0) }
    }

    /// Of a field's value, which is ASCII.
    var text: String { String(decoding: data, as: UTF8.self) }
}
