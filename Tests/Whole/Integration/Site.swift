import Foundation
import TestServices

/// The documentation site of this checkout, built and served.
final class Site: Sendable {
    static let script = TestData.package
        .appendingPathComponent("Scripts/site").path

    /// Built once: it takes some twenty seconds.
    static let built = Task { try await Site() }

    /// The path that it is served below.
    let base = "/latchkey"
    /// Its first page.
    let address: String
    private let directory: TestDirectory
    private let server: RunningProgram

    /// Runs the script of a checkout with the modules of this build.
    static func build(_ arguments: [String], by script: String = script, home: String) async throws -> ProgramRun {
        // The toolchain's docc is where the swift is that runs the tests.
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let environment = ["PATH": path, "HOME": home, "TMPDIR": home]
        return try await Program(script).run(
            ["--programs", try BuiltProducts.folder()] + arguments, environment: environment)
    }

    init() async throws {
        let directory = try TestDirectory()
        try await Self.build(["--base", base, directory.path + base], home: directory.path).successful("Scripts/site")
        let server = try Program("python3").start(
            ["-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", directory.path, "0"])
        let started = /port ([0-9]+)/
        try await server.wait(for: "the site's port") { server.outputSoFar.contains(started) }
        guard let port = server.outputSoFar.firstMatch(of: started)?.output.1 else {
            throw ServiceFailure("the site's server has no port")
        }
        address = "http://127.0.0.1:\(port)\(base)/"
        self.directory = directory
        self.server = server
    }

    /// What the site shows on a page, of which its address is the key.
    struct Page {
        /// Addresses of other pages, maybe with a heading's name.
        var links: Set<String> = []
        /// Images and other files.
        var files: Set<String> = []
        /// The names of its headings and of its symbol's parts.
        var anchors: Set<String> = []
        /// Topics that docc made, for what the page itself puts under none.
        var generatedTopics: [String] = []
    }

    /// Every page, by its address below the base: `/documentation/latchkey/secret`.
    func pages() throws -> [String: Page] {
        let folder = directory.path + base + "/data"
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".json") }
        return try Dictionary(
            uniqueKeysWithValues: files.map { file in
                ("/" + file.dropLast(5).lowercased(), try Page(json("data/" + file)))
            })
    }

    /// The addresses that the navigator has.
    func index() throws -> [String] {
        var paths: [String] = []
        func walk(_ value: Any) {
            if let object = value as? [String: Any] {
                if let path = object["path"] as? String { paths.append(path) }
                object.values.forEach(walk)
            } else if let list = value as? [Any] {
                list.forEach(walk)
            }
        }
        walk(try json("index/index.json"))
        return paths
    }

    func has(_ file: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(directory.path)\(base)/\(file)")
    }

    /// The texts and code of a page, in the order of its parts.
    func text(_ page: String) throws -> String {
        var lines: [String] = []
        func walk(_ value: Any) {
            if let object = value as? [String: Any] {
                if let code = object["code"] as? [String] { lines += code + [""] }
                lines += [object["text"], object["code"]].compactMap { $0 as? String }
                object.values.forEach(walk)
            } else if let list = value as? [Any] {
                list.forEach(walk)
            }
        }
        walk(try json("data/\(page).json"))
        return lines.joined(separator: "\n")
    }

    private func json(_ file: String) throws -> Any {
        try JSONSerialization.jsonObject(
            with: Data(contentsOf: URL(fileURLWithPath: "\(directory.path)\(base)/\(file)")))
    }
}

extension Site.Page {
    /// Takes from a page's JSON what it refers to.
    init(_ json: Any) {
        let topics = (json as? [String: Any])?["topicSections"] as? [[String: Any]] ?? []
        generatedTopics = topics.filter { $0["generated"] as? Bool == true }.compactMap { $0["title"] as? String }
        walk(json)
    }

    private mutating func walk(_ value: Any) {
        if let list = value as? [Any] {
            for element in list { walk(element) }
        } else if let object = value as? [String: Any] {
            if let anchor = object["anchor"] as? String { anchors.insert(anchor) }
            // A paragraph's own link, or what an entry of `references` stands for.
            for key in ["url", "destination"] {
                guard let link = object[key] as? String, link.hasPrefix("/") else { continue }
                if link.hasPrefix("/documentation") { links.insert(link) } else { files.insert(link) }
            }
            for element in object.values { walk(element) }
        }
    }
}
