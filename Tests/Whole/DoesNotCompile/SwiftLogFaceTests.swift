import Foundation
import Testing

/// What `LatchkeySwiftLog` shows, from its sources: without its trait its symbol graph is empty.
@Suite struct SwiftLogFaceTests {
    private static func files() throws -> [(name: String, lines: [String])] {
        let folder = CompileCase.package.appendingPathComponent("Sources/Extras/SwiftLog")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            return (name, text.split(separator: "\n").map(String.init))
        }
    }

    @Test func `without the trait the module contains only the search for credentials in foreign text`() throws {
        let files = try Self.files()
        #expect(files.count >= 5)
        let search = ["CredentialFields.swift", "SecretFieldName.swift"]
        for (name, lines) in files where !search.contains(name) {
            #expect(lines.first == "#if SwiftLog" && lines.last == "#endif", "\(name)")
            #expect(lines.count { $0.drop { $0 == " " }.hasPrefix("#") } == 2, "\(name) has another condition")
        }
    }

    /// Nothing here gives out text but what went into a handler as its metadata. Adding to this is a decision.
    @Test func `the adapter's public declarations are the listed ones`() throws {
        let found = try Self.files().flatMap(\.lines).map { $0.trimmingCharacters(in: .whitespaces) }.filter {
            $0.hasPrefix("public ") && !$0.hasPrefix("public import ")
        }
        #expect(
            found.map { String($0.prefix { $0 != "{" && $0 != "=" }).trimmingCharacters(in: .whitespaces) } == [
                "public struct RedactedLogHandler: LogHandler", "public var logLevel: Logger.Level",
                "public var metadata: Logger.Metadata", "public var metadataProvider: Logger.MetadataProvider?",
                "public init(", "public subscript(metadataKey key: String) -> Logger.Metadata.Value?",
                "public func log(event: LogEvent)", "public struct SwiftLogSink: LogSink",
                "public init(_ logger: Logger)", "public func write(_ record: LogEntry)",
            ])
    }

    @Test func `each public declaration of the adapter is documented`() throws {
        for (name, lines) in try Self.files() {
            for (before, line) in zip(lines, lines.dropFirst()) {
                let line = line.trimmingCharacters(in: .whitespaces)
                guard line.hasPrefix("public "), !line.hasPrefix("public import ") else { continue }
                #expect(before.trimmingCharacters(in: .whitespaces).hasPrefix("///"), "\(name): \(line)")
            }
        }
    }

    /// Where no repository can be reached: without the trait nobody asks for one.
    @Test(arguments: [([String](), true), (["--traits", "SwiftLog"], false)])
    func `swift-log is a dependency of the trait alone`(_ traits: [String], _ resolves: Bool) async throws {
        let folder = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        // The manifest and what it names: a resolution writes beside them.
        for name in ["Package.swift", "Sources", "Tests", "Docs"] {
            try FileManager.default.createSymbolicLink(
                atPath: "\(folder)/\(name)",
                withDestinationPath: CompileCase.package.appendingPathComponent(name).path)
        }
        let tools = URL(fileURLWithPath: try Compiler().executable).deletingLastPathComponent().path
        let run = try await Compiler.run(
            "/usr/bin/env",
            ["-i", "PATH=\(tools):/usr/bin:/bin", "HOME=\(folder)", "GIT_ALLOW_PROTOCOL=none", "swift", "package"]
                + ["--package-path", folder] + traits + ["show-dependencies"])
        #expect((run.status == 0) == resolves, "\(run.output)")
        if !resolves { #expect(run.output.contains("swift-log"), "\(run.output)") }
        #expect(!FileManager.default.fileExists(atPath: folder + "/Package.resolved"))
    }
}
