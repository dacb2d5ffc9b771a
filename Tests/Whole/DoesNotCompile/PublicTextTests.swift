import Foundation
import Testing

/// Tests/Evidence/PublicText.md lists every public declaration of every product that gives out text, bytes or a request, each
/// with the reason why no secret leaves by it. A declaration that is new has to be added there, by somebody who has
/// looked.
@Suite(.serialized) struct PublicTextTests {
    static let page = "Tests/Evidence/PublicText.md"

    /// Empty in this build, since a trait that is off by default makes it; `SwiftLogFaceTests` looks at its sources.
    static let onlyWithTrait = "LatchkeySwiftLog"

    /// The modules of the library products, as the manifest has them, and those that they re-export; not the umbrella,
    /// which has nothing else.
    static func modules() throws -> [String] {
        func text(_ path: String) throws -> String {
            try String(contentsOf: CompileCase.package.appendingPathComponent(path), encoding: .utf8)
        }
        let products = try text("Package.swift").matches(of: /\.library\(name: "\w+", targets: \["(\w+)"\]\)/)
        let exported = try ["Latchkey", "Base/Log"].flatMap {
            try text("Sources/\($0)/Exports.swift").matches(of: /@_exported public import (\w+)/)
        }
        return Set((products + exported).map { String($0.output.1) }).subtracting(["Latchkey", onlyWithTrait]).sorted()
    }

    struct Row: Hashable {
        let module: String
        let name: String
        let reason: String
    }

    /// `| `Module` | `Type.member` | why |`
    static func rows() throws -> [Row] {
        let text = try String(contentsOf: CompileCase.package.appendingPathComponent(page), encoding: .utf8)
        return text.matches(of: /\n\| `(\w+)` \| `([^`]+)` \| ([^|\n]+) \|/).map {
            Row(module: String($0.output.1), name: String($0.output.2), reason: String($0.output.3))
        }
    }

    static func corrections(_ ways: [SymbolGraph.Way], _ rows: [Row]) -> [String] {
        var corrections: [String] = []
        let listed = Set(rows.map { "\($0.module) \($0.name)" })
        let found = Set(ways.map { "\($0.module) \($0.name)" })
        for way in ways where !listed.contains("\(way.module) \(way.name)") {
            corrections.append(
                "gives out\(way.type): make it private, or add: | `\(way.module)` | `\(way.name)` | why no secret leaves |"
            )
        }
        for row in rows {
            if !found.contains("\(row.module) \(row.name)") { corrections.append("remove the row of \(row.name)") }
            if row.reason.count < 10 { corrections.append("say why in the row of \(row.name)") }
        }
        if listed.count < rows.count { corrections.append("a declaration is listed twice") }
        return corrections
    }

    @Test func `no public declaration gives out text or bytes without a reason`() async throws {
        let modules = try Self.modules()
        #expect(modules.count >= 13 && modules.contains("LatchkeySecrets") && modules.contains("LatchkeyLeakAudit"))
        let graphs = try await SymbolGraph.published.value
        // LatchkeyLog re-exports LatchkeySystem, which adopters see nothing of.
        #expect(graphs.allSatisfy { ($0.symbolCount == 0) == ($0.module == "LatchkeySystem") })
        #expect(graphs.reduce(0) { $0 + $1.symbolCount } > 800)
        let corrections = Self.corrections(graphs.flatMap(\.ways), try Self.rows())
        #expect(corrections.isEmpty, "\(Self.page): \(corrections.joined(separator: "\n"))")
    }

    /// A condition would give the module another half that the symbol graph of this build doesn't have.
    @Test func `no public declaration exists only in another build`() throws {
        let sources = CompileCase.package.appendingPathComponent("Sources")
        let names = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String } ?? []
        let own = names.filter { $0.hasSuffix(".swift") }
        #expect(own.count > 300)
        for name in own where !name.hasPrefix("Extras/SwiftLog/") {
            let text = try String(contentsOfFile: "\(sources.path)/\(name)", encoding: .utf8)
            #expect(!text.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix("#if") }, "\(name)")
        }
    }

    @Test func `a declaration that returns a secret's content is found in a module of its own`() async throws {
        let folder = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let source = """
            public import Foundation
            public import LatchkeySecrets
            public struct Careless: ~Copyable {
                public enum Event { case quiet(Int), told(String) }
                public let count: Int
                var hidden: String { "" }
                public var text: String { "" }
                public var maybe: Substring? { nil }
                public var table: [String: Int] { [:] }
                public func bytes() -> [UInt8] { [] }
                public func later() async throws -> Data { Data() }
                public func address() -> URL? { nil }
                public func parts() -> URLComponents? { nil }
                public func request(_ secret: borrowing Secret<AccessToken>) -> URLRequest? { nil }
                public func lend<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R { fatalError() }
                public func pour(into target: inout String) {}
                public subscript(_ index: Int) -> Character { "x" }
                public init(told: (String) -> Void) { count = 0 }
                public static func take(_ text: String, _ secret: consuming Secret<AccessToken>) -> Int { 0 }
            }
            extension Secret where Purpose == AccessToken { public var leaked: String { "" } }
            public func free(_ secret: borrowing Secret<AccessToken>) -> String { "" }
            """
        // URLRequest is in a module of its own on Linux.
        try Data(
            source.replacingOccurrences(
                of: "import Foundation\n", with: "import Foundation\npublic import FoundationNetworking\n"
            ).utf8
        )
        .write(to: URL(fileURLWithPath: folder + "/case.swift"))
        let compiler = try Compiler()
        let built = try await compiler.emitModule("Careless", from: [folder + "/case.swift"], into: folder)
        try #require(built.status == 0, "\(built.output)")
        let graphs = try await compiler.symbolGraphs(of: ["Careless"], in: folder)
        let found = Set(graphs.flatMap(\.ways).map(\.name))
        #expect(
            found == [
                "Careless.Event.told(_:)", "Careless.text", "Careless.maybe", "Careless.table", "Careless.bytes()",
                "Careless.later()", "Careless.address()", "Careless.parts()", "Careless.request(_:)",
                "Careless.lend(_:)", "Careless.pour(into:)", "Careless.subscript(_:)", "Careless.init(told:)",
                "Secret.leaked", "free(_:)",
            ])
    }

    @Test func `the correction names the row to add and to remove`() {
        let way = SymbolGraph.Way(module: "M", name: "T.text", type: " String")
        let row = Row(module: "M", name: "T.text", reason: "a name that is no secret")
        #expect(Self.corrections([way], [row]).isEmpty)
        #expect(Self.corrections([way], []).count == 1)
        #expect(Self.corrections([], [row]) == ["remove the row of T.text"])
        #expect(Self.corrections([way], [Row(module: "M", name: "T.text", reason: "short")]).count == 1)
        #expect(Self.corrections([way], [row, row]) == ["a declaration is listed twice"])
    }
}
