import Credentials
import Foundation
import OAuth
import Secrets

extension Deadline {
    /// For what is not about deadlines: the whole suite runs at once, and a single step may wait long for its turn.
    static var unhurried: Deadline { .after(.seconds(600)) }
}

extension Secret {
    /// For tests alone: the bytes as text.
    var testText: String {
        withExposedBytes { bytes in
            var array: [UInt8] = []
            for index in bytes.indices { array.append(bytes[index]) }
            return String(decoding: array, as: UTF8.self)
        }
    }

    static func test(_ text: String) -> Secret {
        let bytes = Array(text.utf8)
        return Secret(copying: bytes.span)
    }
}

/// For tests alone: collects what it receives as text.
struct TextSink: SecretSink {
    static var reason: StaticString { "a test" }
    var text = ""
    mutating func receive(_ bytes: Span<UInt8>) {
        for index in bytes.indices { text.unicodeScalars.append(Unicode.Scalar(bytes[index])) }
    }
}

extension AuthorizationURL {
    /// For tests alone: the whole address.
    var testText: String {
        var sink = TextSink()
        pour(into: &sink)
        return sink.text
    }
}

/// A directory of one test's own, removed when the value goes.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        var template = Array("/tmp/lk-XXXXXX".utf8CString)
        guard unsafe mkdtemp(&template) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        path = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }
}
