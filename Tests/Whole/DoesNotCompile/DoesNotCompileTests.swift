import Foundation
import Testing

/// What must not compile, one file a case, in folders by the way out. See `CompileCase` for the form of a case.
struct DoesNotCompileTests {
    @Test(arguments: try CompileCase.ways())
    func `no secret leaves by`(way: String) async throws {
        let cases = try CompileCase.all(of: way)
        #expect(cases.contains { $0.isControl }, "\(way) has no control that must compile")
        #expect(cases.contains { !$0.isControl }, "\(way) has no case")
        for (one, outcome) in zip(cases, try await Compiler().compile(cases.map(\.path))) {
            for complaint in one.complaints(about: outcome) { Issue.record(Comment(rawValue: complaint)) }
        }
    }

    @Test func `there are cases for every way out, a hundred and fifty or more`() throws {
        let ways = try CompileCase.ways()
        let cases = try ways.flatMap { try CompileCase.all(of: $0) }.filter { !$0.isControl }
        #expect(cases.count >= 150)
        let needed = [
            "Print", "DebugPrint", "Dump", "Interpolation", "Describing", "Mirror", "Any", "Containers", "Copying",
            "Errors", "Encoding", "Foundation", "LentSpan", "Log", "Loggable", "ByType", "Internals",
        ]
        #expect(Set(needed).subtracting(ways).isEmpty)
    }

    /// Modules that know no secret, and no type that holds one: what the machine is like, what protects the process,
    /// and the system's calls.
    static let withoutSecrets: Set = ["LatchkeyProcess", "LatchkeySystem"]

    /// The executables have no public declarations.
    @Test func `a case covers every module of every library product`() throws {
        let texts = try CompileCase.ways().flatMap { try CompileCase.all(of: $0) }.filter { !$0.isControl }.map {
            try String(contentsOfFile: $0.path, encoding: .utf8)
        }
        let modules = try PublicTextTests.modules()
        #expect(modules.count >= 14)
        for module in modules where !Self.withoutSecrets.contains(module) {
            #expect(texts.contains { $0.contains("import \(module)\n") }, "add a case of \(module)")
        }
    }

    /// Noncopyable types without a secret in them.
    static let innocuous: Set = [
        "Lease", "TemporaryFolder", "DescriptorTap", "WatchedSecret", "Timer", "Subscription", "TerminalDevice",
    ]

    @Test func `cases print, interpolate and put into Any every noncopyable type`() throws {
        let sources = CompileCase.package.appendingPathComponent("Sources").path
        let names = FileManager.default.enumerator(atPath: sources)?.compactMap { $0 as? String } ?? []
        var types: Set<String> = []
        for name in names where name.hasSuffix(".swift") {
            let text = try String(contentsOfFile: "\(sources)/\(name)", encoding: .utf8)
            for type in text.matches(of: /(?:public|package) (?:struct|enum) (\w+)[^\n{]*: [^\n{]*~Copyable/) {
                types.insert(String(type.output.1))
            }
        }
        #expect(types.count >= 20 && types.isSuperset(of: Self.innocuous))
        for way in ["Print", "Interpolation", "Any"] {
            let texts = try CompileCase.all(of: way).filter { !$0.isControl }.map {
                try String(contentsOfFile: $0.path, encoding: .utf8)
            }
            for type in types.subtracting(Self.innocuous).sorted() {
                #expect(
                    texts.contains { $0.contains(" \(type))") || $0.contains(" \(type)<") },
                    "add Cases/\(way)/… for \(type)")
            }
        }
    }

    /// Each kind of value that holds a secret, by each way that takes values; an error's payload and an adapter's
    /// field, which are text, by the ways that text has.
    @Test func `every way out has a case with a key, a session, a callback, a proof, an error and an adapter`()
        throws
    {
        func texts(_ way: String) throws -> [String] {
            try CompileCase.all(of: way).filter { !$0.isControl }.map {
                try String(contentsOfFile: $0.path, encoding: .utf8)
            }
        }
        let ways = [
            "Print", "Interpolation", "Describing", "Dump", "Mirror", "Any", "Containers", "Errors", "Encoding", "Log",
        ]
        // A signed request carries the proof.
        let kinds = [
            "Secret<", "ES256Key", "StoredSession", "AuthorizationResponse", "TokenResponse", "GuardedRequest",
        ]
        for way in ways {
            let cases = try texts(way)
            for kind in kinds { #expect(cases.contains { $0.contains(kind) }, "add Cases/\(way)/… for \(kind)") }
        }
        #expect(try texts("Log").contains { $0.contains("any Error") && $0.contains("logger.error") })
        #expect(try texts("Loggable").contains { $0.contains("RedactedError") })
        #expect(try texts("Log").contains { $0.contains("CallersOwnHTTPClientFieldSink") })
    }

    // MARK: - The test itself

    struct Sample: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let source: String
        let isRefused: Bool
    }

    @Test(arguments: [
        Sample(
            testDescription: "an error that is expected",
            source: "let n: Int = \"\"  // expected-error {{cannot convert value}}\n", isRefused: false),
        Sample(testDescription: "a control that compiles", source: "let n: Int = 1\n", isRefused: false),
        Sample(
            testDescription: "a case that compiles",
            source: "let n: Int = 1  // expected-error {{cannot convert value}}\n", isRefused: true),
        Sample(
            testDescription: "another error than the expected one",
            source: "let n: Int = \"\"  // expected-error {{noncopyable}}\n", isRefused: true),
        Sample(
            testDescription: "an error on another line",
            source: "let n: Int = \"\"\n// expected-error {{cannot convert value}}\n", isRefused: true),
        Sample(
            testDescription: "an error more than expected",
            source: "let n: Int = \"\"  // expected-error {{cannot convert value}}\nlet m: Int = \"\"\n",
            isRefused: true),
        Sample(testDescription: "a control that does not compile", source: "let n: Int = \"\"\n", isRefused: true),
        Sample(testDescription: "a module that is missing", source: "import NoSuchModule\n", isRefused: true),
    ])
    func `a stale or missing expectation is noticed`(_ sample: Sample) async throws {
        let folder = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder + "/Way", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data(sample.source.utf8).write(to: URL(fileURLWithPath: folder + "/Way/case.swift"))
        let found = try #require(try CompileCase.all(of: "Way", in: folder).first)
        let complaints = found.complaints(about: try await Compiler().compile([found.path])[0])
        #expect(complaints.isEmpty != sample.isRefused, "\(complaints)")
    }

    /// Errors of types and errors of ownership, which the compiler looks for in two steps; and a file that others may see.
    @Test func `files that are compiled together are judged separately`() async throws {
        func twice(_ expectation: String) -> String {
            """
            private struct Once: ~Copyable {}
            private func end(_ once: consuming Once) {\(expectation)
                _ = consume once
                _ = consume once
            }

            """
        }
        let sources = [
            "a type": "private let n: Int = \"\"  // expected-error {{cannot convert value}}\n",
            "b ownership": twice("  // expected-error {{'once' consumed more than once}}"),
            "c control": "private let n: Int = 1\n", "d public": "public struct Seen {}\n",
            "e unexpected type": "private let n: Int = \"\"\n",
            "f unexpected ownership": twice(""),
            "g compiles": "private let n: Int = 1  // expected-error {{cannot convert value}}\n",
            "h sees another": "private let seen: Seen? = nil\n",
        ]
        let folder = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: folder + "/Way", withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for (name, source) in sources {
            try Data(source.utf8).write(to: URL(fileURLWithPath: "\(folder)/Way/\(name).swift"))
        }
        let cases = try CompileCase.all(of: "Way", in: folder)
        let refused = zip(cases, try await Compiler().compile(cases.map(\.path))).compactMap { one, outcome in
            one.complaints(about: outcome).isEmpty ? nil : one.name.dropFirst(4).first
        }
        #expect(refused == ["e", "f", "g", "h"])
    }
}
