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
    ///
    /// Another process writes it: a child that a test beside this one starts meanwhile would hold our descriptor for
    /// writing, and a file that is open for writing can't be executed (ETXTBSY).
    func script(_ name: String, _ text: String) throws -> String {
        let file = path + "/" + name
        let writer = Process()
        writer.executableURL = URL(fileURLWithPath: "/bin/sh")
        writer.arguments = ["-c", "cat > \"$1\" && chmod 700 \"$1\"", "sh", file]
        let input = Pipe()
        writer.standardInput = input
        try writer.run()
        try input.fileHandleForWriting.write(contentsOf: Data(("#!/bin/sh\n" + text + "\n").utf8))
        try input.fileHandleForWriting.close()
        writer.waitUntilExit()
        guard writer.terminationStatus == 0 else { throw POSIXError(.EIO) }
        return file
    }

    /// The text of a file, or `nil` when there is none.
    func text(_ name: String) -> String? {
        try? String(contentsOfFile: path + "/" + name, encoding: .utf8)
    }
}
