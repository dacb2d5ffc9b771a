import Foundation
import Testing

/// A library doesn't know the program that uses it: what would help is a `Recovery`, and the command line alone words it.
struct RecoveryTests {
    private static func libraries() throws -> [(path: String, code: String)] {
        let all = try Repository.sources().map { (path: $0.0, code: $0.1) }
        let libraries = all.filter { !$0.path.hasPrefix("Commands/") }
        #expect(libraries.count > 250 && libraries.count < all.count)
        return libraries
    }

    private static func strings(in code: String) -> [String] {
        let lines = code.split(separator: "\n").filter { $0.utf8.contains(UInt8(ascii: "\"")) }
        return lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.flatMap { line in
            line.matches(of: /"(?:[^"\\]|\\.)*"/).map { String($0.output) }
        }
    }

    @Test func `no text of a library contains our options or commands`() throws {
        let commands =
            "set|get|delete|list|sign-in|sign-out|accounts|use|token|request|provider|run|move|copy|import|vault|doctor|demo|scheme"
        let pattern = try Regex("--[a-z]|latchkey (?:\(commands))\\b")
        // Options of browsers; a label in the keyring; and the vault's own prefix for what it derives keys with.
        let exempt = ["SignIn/SignIn/UserAgents/BrowserChoice.swift", "Extras/StoreContract/SavingCases.swift"]
        for (path, code) in try Self.libraries() where !exempt.contains(path) {
            for text in Self.strings(in: code) where text.contains(pattern) {
                #expect(text == "\"latchkey vault\"" || text.hasPrefix("\"latchkey vault v1 "), "\(path): \(text)")
            }
        }
        #expect("\"make one with latchkey vault init\"".contains(pattern))
    }

    @Test func `code never reads a text that is made for people`() throws {
        let pattern = #"(?:hint|cause|logMessage|message)\??\.text(?:\.contains|\.hasPrefix|\.hasSuffix|\.range| ==)"#
        #expect(try Repository.sources(with: pattern).map(\.path) == [])
    }
}
