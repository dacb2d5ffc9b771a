import Foundation
import Testing

/// What a program sees that imports us: few names, each recorded, none of them another package's.
///
/// `taken-names.txt` lists the modules, products and public top-level types of some forty packages and of the
/// toolchain.
@Suite(.serialized) struct PublicFaceTests {
    static let page = "Tests/Evidence/PublicFace.txt"

    /// What the lines of one kind name.
    private static func taken(_ kind: String) throws -> Set<String> {
        let text = try String(
            contentsOf: CompileCase.package.appendingPathComponent("Tests/Whole/DoesNotCompile/taken-names.txt"),
            encoding: .utf8)
        return Set(
            text.split(separator: "\n").filter { $0.hasPrefix(kind + " ") }.map { String($0.dropFirst(kind.count + 1)) }
        )
    }

    /// The modules that some product reaches, the executables' among them: all that the manifest doesn't make for
    /// tests.
    private static func reached() throws -> [String] {
        let manifest = try String(
            contentsOf: CompileCase.package.appendingPathComponent("Package.swift"), encoding: .utf8)
        let sources = manifest.components(separatedBy: "// MARK: Tests")[0]
        return sources.matches(of: /(?:module|system|\.executableTarget)\(\s*(?:name: )?"(\w+)"/).map {
            String($0.output.1)
        }
    }

    /// Swift modules of ours that nobody outside sees.
    private static let internalModules = [
        "LatchkeySystem", "LatchkeyCrypto", "LatchkeyLoopback", "LatchkeyCommands", "LatchkeyCommandLine",
    ]

    @Test func `every module of a product has a unique name`() throws {
        let names = try Self.reached()
        #expect(names.count >= 30 && names.contains("LatchkeyVault") && names.contains("CLatchkeyCurl"))
        let taken = try Self.taken("module").union(try Self.taken("product"))
        #expect(taken.count > 200 && taken.contains("Logging") && taken.contains("Sodium"))
        for name in names {
            #expect(name.hasPrefix("Latchkey") || name.hasPrefix("CLatchkey"), "\(name)")
            #expect(!taken.contains(name), "\(name)")
        }
        // A file system that ignores case would put two of them into one file.
        #expect(Set(names.map { $0.lowercased() }).count == names.count)
    }

    @Test func `no public type has the name of another package's, or of another module's of ours`() async throws {
        let taken = try Self.taken("type")
        #expect(taken.count > 2500 && taken.isSuperset(of: ["Logger", "HTTPRequest", "HTTPClient", "Session", "P256"]))
        var owners: [String: String] = [:]
        for graph in try await SymbolGraph.published.value {
            #expect(graph.topLevelTypes.isEmpty == (graph.module == "LatchkeySystem"), "\(graph.module)")
            for type in graph.topLevelTypes {
                #expect(!taken.contains(type), "\(graph.module).\(type) is the name of another package's type")
                #expect(owners.updateValue(graph.module, forKey: type) == nil, "\(type) is in two modules")
            }
        }
        #expect(owners["RedactedLogger"] == "LatchkeyLog")
    }

    @Test func `modules that adopters don't import show nothing`() async throws {
        for graph in try await Compiler().symbolGraphs(of: Self.internalModules) {
            #expect(graph.names.isEmpty, "\(graph.module): \(graph.names.prefix(5))")
        }
    }

    /// Adding to what adopters see is a decision, and changing it is a promise that is broken: a review sees the page's
    /// lines.
    @Test func `the public face equals the recorded one`() async throws {
        let graphs = try await SymbolGraph.published.value
        let found = graphs.flatMap { graph in graph.face.map { "\(graph.module) \($0)" } }.sorted()
        let file = CompileCase.package.appendingPathComponent(Self.page)
        guard let recorded = try? String(contentsOf: file, encoding: .utf8) else {
            try Data((found.joined(separator: "\n") + "\n").utf8).write(to: file)
            Issue.record("recorded \(Self.page); look at it, and run again")
            return
        }
        let lines = recorded.split(separator: "\n").map(String.init)
        let changes = found.difference(from: lines).map { change in
            switch change {
            case .insert(_, let line, _): "+ " + line
            case .remove(_, let line, _): "- " + line
            }
        }
        let isRecorded = changes.isEmpty
        #expect(
            isRecorded,
            """
            \(Self.page) is another; Docs/Reference/changes.md says what such a change means. Delete the page, and run \
            this test to record it anew:
            \(changes.joined(separator: "\n"))
            """)
    }

    /// Each of these breaks somebody's program, or lets it do what it couldn't.
    private static let changes = [
        ("send(_ text: String)", "send(_ text: Substring)"), ("send(_ text: String)", "send(text: String)"),
        ("send(_ text: String)", "send(_ text: String = \"\")"), ("throws(Trouble) {}", "throws {}"),
        ("throws(Trouble) {}", "async throws(Trouble) {}"), ("case lost", "case lost, found"),
        ("final class Letter", "final class Letter: Sendable"), ("final class Letter", "struct Letter"),
        ("var size: Int { 0 }", "var size: Int32 { 0 }"), ("func read()", "func read(); func write()"),
        ("<T: Sendable>", "<T: Hashable>"),
    ]

    @Test func `a change that a caller notices changes the recorded lines`() async throws {
        let source = """
            public enum Trouble: Error, Hashable { case lost }
            public protocol Reader { func read() }
            public final class Letter {
                public var size: Int { 0 }
                public let name = ""
                public func send(_ text: String) throws(Trouble) {}
                public func keep<T: Sendable>(_ value: T) {}
            }
            """
        let face = try await Self.face(of: source)
        #expect(face.contains("Letter.send(_:): func send(_ text: String) throws(Trouble)"))
        for (before, after) in Self.changes {
            try #require(source.contains(before))
            #expect(try await Self.face(of: source.replacing(before, with: after)) != face, "\(before) → \(after)")
        }
        // What is inside is ours, and whether a property is stored.
        let computed = source.replacing("let name = \"\"", with: "var name: String { \"\" }")
        #expect(try await Self.face(of: computed) == face)
        #expect(try await Self.face(of: source.replacing("{ 0 }", with: "{ inner }\n    var inner: Int { 1 }")) == face)
    }

    private static func face(of source: String) async throws -> [String] {
        let folder = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(source.utf8).write(to: URL(fileURLWithPath: folder + "/case.swift"))
        let compiler = try Compiler()
        let built = try await compiler.emitModule("Post", from: [folder + "/case.swift"], into: folder)
        try #require(built.status == 0, "\(built.output)")
        return try await compiler.symbolGraphs(of: ["Post"], in: folder).flatMap(\.face)
    }

    /// The modules that `import Latchkey` shows.
    private static func umbrella() throws -> [String] {
        let exports = try String(
            contentsOf: CompileCase.package.appendingPathComponent("Sources/Latchkey/Exports.swift"), encoding: .utf8)
        return exports.matches(of: /public import (\w+)/).map { String($0.output.1) }
    }

    @Test func `each public declaration is documented, and each throwing one lists its errors`() async throws {
        let graphs = try await SymbolGraph.published.value
        #expect(graphs.reduce(0) { $0 + $1.declarationCount } > 1400)
        for graph in graphs {
            #expect(graph.undocumented == [], "\(graph.module)")
            #expect(graph.silentThrowers == [], "\(graph.module)")
        }
    }

    @Test func `an import of Latchkey shows at most 620 public lines`() throws {
        let modules = try Self.umbrella()
        #expect(modules.count >= 10)
        let sources = CompileCase.package.appendingPathComponent("Sources")
        let manifest = try String(
            contentsOf: CompileCase.package.appendingPathComponent("Package.swift"), encoding: .utf8)
        let declaration = #/^\s*(?:@\w+ )*public /#
        var count = 0
        for match in manifest.matches(of: /module\(\s*"(\w+)", at: "([\w\/]+)"/) where modules.contains("\(match.1)") {
            let folder = sources.appendingPathComponent("\(match.2)")
            for name in FileManager.default.enumerator(atPath: folder.path)?.compactMap({ $0 as? String }) ?? []
            where name.hasSuffix(".swift") {
                let text = try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
                count += text.split(separator: "\n").count {
                    $0.contains("public ") && $0.contains(declaration) && !$0.contains(" import ")
                }
            }
        }
        #expect(count > 400 && count <= 620)
    }

    /// What a page shows must be there for a stranger, with one import and the product that the page is about. Pages
    /// whose code is no whole functions are in `SampleTests`.
    static let pages = [
        ("README.md", []), ("Docs/HowTo/at-protocol.md", ["LatchkeyATProtocol"]),
        ("Docs/HowTo/authenticated-requests.md", ["Foundation", "FoundationNetworking", "LatchkeyFoundation"]),
        ("Docs/HowTo/secrets-in-swift.md", []), ("Docs/HowTo/sign-in-in-swift.md", ["Foundation"]),
        ("Docs/HowTo/github.md", []),
        ("Sources/Latchkey/Latchkey.docc/Latchkey.md", []), ("Sources/Latchkey/Latchkey.docc/ProductLog.md", []),
    ]

    @Test(arguments: pages)
    func `the Swift code on the pages compiles outside of the package`(_ page: String, _ modules: [String]) async throws
    {
        let text = try String(contentsOf: CompileCase.package.appendingPathComponent(page), encoding: .utf8)
        let blocks = text.matches(of: #/```swift\n(?<code>.*?)```/#.dotMatchesNewlines()).map { String($0.code) }
        #expect(!blocks.isEmpty)
        let file = "/tmp/lk-\(UInt64.random(in: 0 ... .max)).swift"
        defer { try? FileManager.default.removeItem(atPath: file) }
        let imports = (["Latchkey"] + modules).map { "import \($0)\n" }.joined()
        try Data((imports + blocks.joined(separator: "\n")).utf8).write(to: URL(fileURLWithPath: file))
        let outcome = try await Compiler().compile(file)
        #expect(outcome.status == 0, "\(outcome.output)")
    }

    @Test func `whole modules are re-exported, never declarations`() throws {
        let sources = CompileCase.package.appendingPathComponent("Sources").path
        var exporters: Set<String> = []
        for name in FileManager.default.enumerator(atPath: sources)?.compactMap({ $0 as? String }) ?? []
        where name.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(sources)/\(name)", encoding: .utf8)
            guard text.contains("@_exported") else { continue }
            exporters.insert(name)
            #expect(text.matches(of: /@_exported public import \w+\n/).count == text.matches(of: /@_exported/).count)
        }
        #expect(
            exporters == [
                "Latchkey/Exports.swift", "Base/Log/Exports.swift", "Commands/Commands/Program/Command.swift",
            ])
    }
}
