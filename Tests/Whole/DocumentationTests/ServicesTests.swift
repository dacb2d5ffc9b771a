import Foundation
import LatchkeySignIn
import Testing
import TestServices

/// A built-in service is a file (Sources/SignIn/SignIn/Providers), a line in `BuiltInProvider.all`, and a word among those that
/// `--service` takes: the program that reads the command line doesn't load what talks to servers.
struct ServicesTests {
    @Test func `the option, its help and the library know the same services`() async throws {
        let names = BuiltInProvider.all.map(\.name.text)
        let refused = try await BuiltProducts.latchkey().run(["provider", "add", "x", "--service", "?"])
        #expect(refused.errorText.contains("--service takes \(names.joined(separator: ", ")) [usage.bad-value]"))
        let help = try await BuiltProducts.latchkey().run(["provider", "add", "--help"]).successful("help").outputText
        let builtIn = try #require(help.firstMatch(of: #/Built in are ((?s).*?)\.\n/#)).output.1
        for name in names { #expect(builtIn.contains(name), "\(name)") }
    }

    /// What is particular about a service is in its row.
    @Test func `no other file of the library names a service`() throws {
        for service in BuiltInProvider.all.map(\.name.text) where !["github", "bluesky"].contains(service) {
            let files = try FileManager.default.subpathsOfDirectory(
                atPath: Repository.root.appendingPathComponent("Sources").path
            ).filter { $0.hasSuffix(".swift") && !$0.hasSuffix("BuiltInProvider.swift") }
            let naming = try files.filter { try Repository.text("Sources/\($0)").contains("\"\(service)\"") }
            #expect(
                naming.allSatisfy {
                    // The last one: the variable that a service's own tools read a token from.
                    $0 == "SignIn/SignIn/Providers/BuiltInProviders.swift"
                        || $0 == "Commands/Commands/Run/RunCommand.swift"
                }, "\(service): \(naming)")
        }
    }
}
