import Foundation
import LatchkeySystem
import Testing
import TestServices

/// Small files that are replaced whole.
@Suite struct PrivateFileTests {
    /// What a killed process left was named after its process id, and was in the way of each later one that got this
    /// id.
    @Test func `leftovers of a killed process obstruct nothing`() throws {
        let directory = try TestDirectory()
        let path = directory / "choice"
        for left in ["\(path).\(getpid())", "\(path).new-\(getpid())"] {
            try Data("half".utf8).write(to: URL(fileURLWithPath: left))
        }
        for text in ["one", "two"] {
            try PrivateFile.replace(path, with: text)
            #expect(try PrivateFile.read(path, limit: 10) == Array(text.utf8))
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
        #expect(names.count == 3, "\(names)")
    }

    @Test func `a folder and its new parents are private`() throws {
        let directory = try TestDirectory()
        let path = directory / "a/b/c"
        try PrivateDirectory.make(path)
        try PrivateDirectory.make(path)
        for folder in ["a", "a/b", "a/b/c"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory / folder)
            #expect(attributes[.posixPermissions] as? Int == 0o700)
        }
    }
}
