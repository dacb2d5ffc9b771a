import Foundation

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

    /// Writes an executable script and returns its path.
    func script(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        try Data(("#!/bin/sh\n" + text + "\n").utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: file)
        return file
    }

    /// The text of a file, or `nil` when there is none.
    func text(_ name: String) -> String? {
        try? String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }
}
