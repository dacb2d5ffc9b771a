import Foundation
import Testing

/// What `LatchkeySwiftLog` shows, from its sources: without its trait the module is empty, and its symbol graph too.
@Suite struct SwiftLogFaceTests {
    private static func files() throws -> [(name: String, lines: [String])] {
        let folder = CompileCase.package.appendingPathComponent("Sources/SwiftLog")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
            return (name, text.split(separator: "\n").map(String.init))
        }
    }

    @Test func `without the trait there is nothing`() throws {
        let files = try Self.files()
        #expect(files.count >= 5)
        for (name, lines) in files {
            #expect(lines.first == "#if SwiftLog" && lines.last == "#endif", "\(name)")
            #expect(lines.count { $0.drop { $0 == " " }.hasPrefix("#") } == 2, "\(name) has another condition")
        }
    }

    /// Nothing here gives out text but what went into a handler as its metadata. Adding to this is a decision.
    @Test func `its public declarations are these`() throws {
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
}
