import Foundation
import Testing

/// What a comment or a page shows compiles for a stranger: with `import Latchkey`, the product that it is about, and the
/// values that it takes for granted. `PublicFaceTests` has the pages whose code is whole functions.
@Suite(.serialized) struct SampleTests {
    /// What a sample takes for granted.
    struct Surroundings: Sendable {
        /// Beside Latchkey.
        var imports: [String] = []
        /// Parameters of the function that the sample is the body of; `nil`: it is declarations.
        var parameters: String? = ""
        /// Declarations of the stranger's own.
        var declarations = ""
    }

    private static let comments = [
        "ATProtocolClient": Surroundings(
            imports: ["LatchkeyATProtocol"],
            parameters: """
                configuration: ATProtocolConfiguration, vault: any CredentialStore, context: SignInContext,
                browser: UserAgent, deadline: Deadline, url: HTTPURL
                """),
        "OAuthAuthenticator": Surroundings(
            imports: ["LatchkeyFoundation"], parameters: "configuration: OAuthAuthenticator.Configuration, url: HTTPURL"
        ),
        "DescriptorTap": Surroundings(imports: ["LatchkeyLeakAudit"], parameters: "audit: LeakAudit"),
        "LeakAudit": Surroundings(imports: ["LatchkeyLeakAudit"], parameters: "standardError: [UInt8]"),
        "LeakAudit.capture(error:as:localized:)": Surroundings(
            imports: ["LatchkeyLeakAudit", "Foundation"], parameters: "audit: LeakAudit, error: any Error"),
        "LogContext.with(_:_:_:)": Surroundings(),
        "Loggable": Surroundings(parameters: nil, declarations: "struct Order { let number, state: Int }"),
        "RedactedLogger.with(_:_:)": Surroundings(parameters: "log: RedactedLogger"),
        "LiveSecrets.ofThisProcess": Surroundings(),
        "ScrubbingLogSink": Surroundings(parameters: "token: borrowing Secret<AccessToken>"),
        "GitHubAuthService": Surroundings(
            parameters: """
                vault: any CredentialStore, leases: LeaseDirectory, context: SignInContext, browser: UserAgent
                """),
        "SignInService": Surroundings(
            parameters: """
                provider: OAuthProvider, vault: any CredentialStore, context: SignInContext, browser: UserAgent
                """),
        "ContractCase": Surroundings(
            imports: ["LatchkeyStoreContract", "Testing"], parameters: nil,
            declarations: """
                struct TemporaryFolder {
                    let path = "/tmp/store"
                    init() throws {}
                    func remove() {}
                }
                func MyStore(path: String) async throws -> any CredentialStore { try InMemoryStore() }
                """),
        "LoopbackAuthorizationServer": Surroundings(imports: ["LatchkeyTestServer", "Testing"]),
    ]

    private static let pages = [
        "Docs/HowTo/audit-logs.md": Surroundings(
            imports: ["LatchkeyLeakAudit"], parameters: "temporaryFolder: String",
            declarations: "func run(with token: borrowing Secret<AccessToken>, _ log: RedactedLogger) {}")
    ]

    private static func source(_ sample: DocumentationSample, _ surroundings: Surroundings) -> String {
        // What is left out is left out here too, but for what stands in a text.
        var code = sample.code.replacing(/(?m)(^|[ {])…/) { $0.output.1 }
        if let parameters = surroundings.parameters {
            code = "func sample(\(parameters)) async throws {\n\(code)\n}"
        }
        let imports = (["Latchkey"] + surroundings.imports).map { "import \($0)\n" }.joined()
        return "\(imports)\(surroundings.declarations)\n\(code)\n"
    }

    private func compile(
        _ sample: DocumentationSample, _ surroundings: Surroundings
    ) async throws -> Compiler.Outcome {
        let compiler = try Compiler()
        let file = "/tmp/lk-\(UInt64.random(in: 0 ... .max)).swift"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try Data(Self.source(sample, surroundings).utf8).write(to: URL(fileURLWithPath: file))
        return try await compiler.compile(file, compiler.macroOptions + ["-no-warnings-as-errors"])
    }

    private func check(_ sample: DocumentationSample, _ surroundings: Surroundings) async throws {
        let outcome = try await compile(sample, surroundings)
        // A sample needn't use all that it shows; any other warning is one too many.
        let warnings = outcome.output.split(separator: "\n").filter {
            $0.hasPrefix("/") && $0.contains(": warning: ") && !$0.contains("was never used")
        }
        #expect(outcome.status == 0 && warnings.isEmpty, "\(sample.name): \(outcome.output)")
    }

    @Test func `the code in the comments of public declarations compiles`() async throws {
        var seen: Set<String> = []
        for graph in try await SymbolGraph.published.value {
            for sample in graph.samples {
                seen.insert(sample.name)
                let surroundings = try #require(Self.comments[sample.name], "say what \(sample.name)'s sample needs")
                try await check(sample, surroundings)
            }
        }
        #expect(seen == Set(Self.comments.keys))
    }

    @Test func `the code on every page compiles: here, as whole functions in PublicFaceTests, or as a package's`()
        async throws
    {
        let packages = try ["Docs/Examples", "Tests/Whole/Adopters/Sources"].flatMap(Self.sources)
        #expect(packages.count >= 3)
        for page in try Self.documents() {
            let text = try String(contentsOf: CompileCase.package.appendingPathComponent(page), encoding: .utf8)
            let blocks = text.matches(of: #/```swift\n(?<code>.*?)```/#.dotMatchesNewlines()).map { String($0.code) }
            if blocks.isEmpty || PublicFaceTests.pages.contains(where: { $0.0 == page }) { continue }
            for block in blocks where !packages.contains(where: { $0.contains(block) }) {
                let surroundings = try #require(Self.pages[page], "say what the code on \(page) needs")
                try await check(DocumentationSample(name: page, code: block), surroundings)
            }
        }
    }

    @Test func `a sample that doesn't compile is found`() async throws {
        let sample = DocumentationSample(name: "a comment", code: "let log = RedactedLog(\"shop\")")
        let outcome = try await compile(sample, Surroundings())
        #expect(outcome.status != 0 && outcome.output.contains("cannot find 'RedactedLog' in scope"))
    }

    /// The sources below a folder of packages, which tests of their own build.
    private static func sources(in folder: String) throws -> [String] {
        let path = CompileCase.package.appendingPathComponent(folder).path
        let found = try FileManager.default.subpathsOfDirectory(atPath: path).filter {
            $0.hasSuffix(".swift") && !$0.contains(".build")
        }
        return try found.map { try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8) }
    }

    /// The Markdown files that may show code: those of the site's catalogues have DocC's own samples.
    private static func documents() throws -> [String] {
        let docs = CompileCase.package.appendingPathComponent("Docs").path
        let found = try FileManager.default.subpathsOfDirectory(atPath: docs).filter { $0.hasSuffix(".md") }
        return ["README.md"] + found.map { "Docs/" + $0 }.sorted()
    }
}
