import Foundation
import TestServices

extension TestDirectory {
    /// Writes an executable script and returns its path.
    ///
    /// Another process writes it: a child that a test beside this one starts meanwhile would hold our descriptor for
    /// writing, and a file that is open for writing can't be executed (ETXTBSY). It is not Foundation's `Process` that
    /// starts it: several at once ended the whole run in a `memcpy` of its own.
    func script(_ name: String, _ text: String) async throws -> String {
        let file = self / name
        try await Program("sh").run(
            ["-c", "cat > \"$1\" && chmod 700 \"$1\"", "sh", file], input: Array(("#!/bin/sh\n" + text + "\n").utf8)
        ).successful("writing a script")
        return file
    }

    /// The text of a file, or `nil` when there is none.
    func text(_ name: String) -> String? { try? String(contentsOfFile: self / name, encoding: .utf8) }
}
