import Foundation
import TestServices

extension TestDirectory {
    /// Writes an executable script and returns its path.
    ///
    /// Another process writes it: a child that a test beside this one starts meanwhile would hold our descriptor for
    /// writing, and a file that is open for writing can't be executed (ETXTBSY).
    func script(_ name: String, _ text: String) throws -> String {
        let file = self / name
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
    func text(_ name: String) -> String? { try? String(contentsOfFile: self / name, encoding: .utf8) }
}
