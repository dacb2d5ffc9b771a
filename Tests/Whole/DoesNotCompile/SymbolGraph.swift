import Foundation

/// The public declarations of a module, as the compiler's own symbol graph has them.
struct SymbolGraph {
    /// A declaration that gives its caller text, bytes or a request: what a secret's content could leave in.
    struct Way: Hashable, Comparable {
        let module: String
        /// Such as `CredentialKey.service` or `Base64URL.encode(_:)`.
        let name: String
        /// What is given, as it is declared.
        let type: String

        static func < (left: Way, right: Way) -> Bool {
            (left.module, left.name, left.type) < (right.module, right.name, right.type)
        }
    }

    /// Everything that can hold a secret's content, as whole words of a type.
    static let openTypes: Set = [
        "String", "Substring", "Character", "UTF8View", "Data", "NSString", "NSData", "URL", "URLComponents",
        "URLRequest", "HTTPURLResponse", "UInt8", "CChar", "Any", "Span", "RawSpan", "MutableSpan", "MutableRawSpan",
        "UnsafePointer", "UnsafeMutablePointer", "UnsafeRawPointer", "UnsafeMutableRawPointer", "UnsafeBufferPointer",
        "UnsafeMutableBufferPointer", "UnsafeRawBufferPointer", "UnsafeMutableRawBufferPointer",
    ]

    private struct File: Decodable {
        let symbols: [Symbol]
        let relationships: [Relationship]
    }

    /// That a type conforms to a protocol, among others.
    private struct Relationship: Decodable {
        let kind: String
        let source: String
        let target: String
        /// The target's name, where it is another module's.
        let targetFallback: String?
    }

    private struct Symbol: Decodable {
        struct Kind: Decodable { let identifier: String }
        struct Identifier: Decodable { let precise: String }
        let identifier: Identifier
        struct Fragment: Decodable { let spelling: String }
        struct Comment: Decodable {
            struct Line: Decodable { let text: String }
            let lines: [Line]
            /// Where it stands; `nil` without sources.
            let uri: String?
        }
        struct Parameter: Decodable { let declarationFragments: [Fragment] }
        struct Signature: Decodable {
            let parameters: [Parameter]?
            let returns: [Fragment]?
        }
        let kind: Kind
        let pathComponents: [String]
        /// Its own, or that of the requirement that it fulfils.
        let docComment: Comment?
        let declarationFragments: [Fragment]?
        let functionSignature: Signature?
        struct Location: Decodable { let uri: String? }
        let location: Location?

        /// The types it gives out: a property's, a result, an associated value, and what it lends to a closure or
        /// writes through `inout`.
        var given: [String] {
            let text = Self.text(declarationFragments)
            let parameters = (functionSignature?.parameters ?? []).map { Self.text($0.declarationFragments) }
            let filled = text.matches(of: /inout ([^,)]+)/).map { String($0.output.1) }
            let lent = parameters.filter { $0.contains("->") }.map(Self.lentTypes) + filled
            let last = kind.identifier.split(separator: ".").last.map(String.init) ?? ""
            switch last {
            case "property", "var": return [String(text.drop { $0 != ":" }.dropFirst())]
            case "subscript": return [text.components(separatedBy: "->").last ?? text]
            case "case": return [String(text.drop { $0 != "(" })]
            case "method", "func", "op": return [Self.text(functionSignature?.returns)] + lent
            case "init": return lent
            default: return []
            }
        }

        /// On one line. What is stored and what is computed are the same to a caller who reads it.
        var declaration: String {
            let text = Self.text(declarationFragments).split { $0.isWhitespace }.joined(separator: " ")
            guard let found = text.firstMatch(of: /^((?:\w+ )*)let (.*)$/) else { return text }
            return "\(found.output.1)var \(found.output.2) { get }"
        }

        /// Whether a call of it throws, rather than a closure that it takes.
        var throwsErrors: Bool {
            let text = Self.text(declarationFragments)
            guard ["method", "func", "init"].contains(kind.identifier.split(separator: ".").last ?? "") else {
                return false
            }
            return text.contains(/\) (?:async )?throws/) && !text.contains(/\) (?:async )?throws\(Never\)/)
        }

        /// The comment of a requirement speaks for those that fulfil it.
        var saysWhatItThrows: Bool {
            let own = location.flatMap { $0.uri } == docComment?.uri
            return !own || docComment?.lines.contains { $0.text.contains(/[Tt]hrow|[Oo]therwise as/) } == true
        }

        /// Of `body: (Span<UInt8>) -> Result` the part in brackets.
        private static func lentTypes(_ parameter: String) -> String {
            let type = parameter.drop { $0 != ":" }.dropFirst(2)
            return type.range(of: "->").map { String(type[..<$0.lowerBound]) } ?? String(type)
        }

        private static func text(_ fragments: [Fragment]?) -> String {
            (fragments ?? []).map(\.spelling).joined()
        }
    }

    let module: String
    let ways: [Way]
    /// The name of each declaration, such as `CredentialKey.service`; enum cases apart.
    let names: [String]
    /// Each declaration as a caller can write against it, with its name: its types, labels, defaults and what it throws;
    /// and what each type conforms to. Whatever changes a line may break a caller.
    let face: [String]
    let symbolCount: Int
    /// Those that say nothing about themselves, enum cases among them.
    let undocumented: [String]
    /// Those that throw, and say in words of their own neither what nor when.
    let silentThrowers: [String]
    /// The code in the comments, each block with the name of its declaration.
    let samples: [DocumentationSample]
    /// Public declarations, enum cases among them.
    let declarationCount: Int

    /// The types that a file which imports the module sees without a qualifier.
    let topLevelTypes: [String]

    /// Reads the graph that `swift-symbolgraph-extract` wrote for a module into a folder.
    init(of module: String, in folder: String) throws {
        var ways: Set<Way> = []
        var names: [String] = []
        var face: Set<String> = []
        var undocumented: [String] = []
        var silentThrowers: [String] = []
        var samples: [DocumentationSample] = []
        var types: Set<String> = []
        var count = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name == "\(module).symbols.json" || name.hasPrefix("\(module)@") {
            let data = try Data(contentsOf: URL(fileURLWithPath: "\(folder)/\(name)"))
            let graph = try JSONDecoder().decode(File.self, from: data)
            let symbols = graph.symbols
            face.formUnion(Self.conformances(in: graph))
            count += symbols.count
            for symbol in symbols {
                let kind = symbol.kind.identifier
                let name = symbol.pathComponents.joined(separator: ".")
                if kind != "swift.enum.case" { names.append(name) }
                face.insert("\(name): \(symbol.declaration)")
                if let comment = symbol.docComment {
                    if symbol.throwsErrors, !symbol.saysWhatItThrows { silentThrowers.append(name) }
                    // What is inherited from the standard library has no place of ours.
                    let isOurs = comment.uri != nil && comment.uri == symbol.location?.uri
                    if isOurs { samples += DocumentationSample.samples(in: comment.lines.map(\.text), of: name) }
                } else {
                    undocumented.append(name)
                }
                if symbol.pathComponents.count == 1, Self.typeKinds.contains(kind) {
                    types.insert(symbol.pathComponents[0])
                }
                for type in symbol.given where Self.isOpen(type) {
                    ways.insert(Way(module: module, name: symbol.pathComponents.joined(separator: "."), type: type))
                }
            }
        }
        self.module = module
        self.ways = ways.sorted()
        self.names = names.sorted()
        self.face = face.sorted()
        self.undocumented = undocumented.sorted()
        self.silentThrowers = silentThrowers.sorted()
        self.samples = samples
        declarationCount = count
        topLevelTypes = types.sorted()
        symbolCount = count
    }

    /// `Type: conforms to A, B`, but for what every type does unless it says otherwise.
    private static func conformances(in graph: File) -> [String] {
        let names = Dictionary(
            graph.symbols.map { ($0.identifier.precise, $0.pathComponents.joined(separator: ".")) }
        ) { first, _ in first }
        var protocols: [String: Set<String>] = [:]
        for relationship in graph.relationships where relationship.kind == "conformsTo" {
            guard let type = names[relationship.source],
                let name = (names[relationship.target] ?? relationship.targetFallback)?.split(separator: ".").last,
                !["Copyable", "Escapable", "SendableMetatype"].contains(name)
            else { continue }
            protocols[type, default: []].insert(String(name))
        }
        return protocols.map { "\($0.key): conforms to \($0.value.sorted().joined(separator: ", "))" }
    }

    private static let typeKinds: Set = [
        "swift.struct", "swift.enum", "swift.class", "swift.actor", "swift.protocol", "swift.typealias",
    ]

    private static func isOpen(_ type: String) -> Bool {
        type.matches(of: /[A-Za-z_][A-Za-z0-9_]*/).contains { openTypes.contains(String($0.output)) }
    }
}

extension SymbolGraph {
    /// Those of all modules that adopters see, taken once.
    static let published = Task { try await Compiler().symbolGraphs(of: PublicTextTests.modules()) }
}

extension Compiler {
    /// The public declarations of modules, those of the build in progress unless told otherwise.
    func symbolGraphs(of names: [String], in own: String? = nil) async throws -> [SymbolGraph] {
        let places = [own, modules].compactMap(\.self).flatMap { ["-I", $0] }
        let folder = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let tool = URL(fileURLWithPath: executable).deletingLastPathComponent().path + "/swift-symbolgraph-extract"
        var graphs: [SymbolGraph] = []
        for name in names {
            let run = try await Self.run(
                tool,
                ["-module-name", name, "-minimum-access-level", "public", "-skip-synthesized-members"]
                    + ["-target", Self.target, "-output-dir", folder]
                    + places + searchOptions)
            guard run.status == 0 else { throw NotFound(what: "the symbols of \(name): \(run.output)") }
            graphs.append(try SymbolGraph(of: name, in: folder))
        }
        return graphs
    }

    private static var target: String {
        #if arch(x86_64)
            "x86_64-unknown-linux-gnu"
        #else
            "aarch64-unknown-linux-gnu"
        #endif
    }
}
