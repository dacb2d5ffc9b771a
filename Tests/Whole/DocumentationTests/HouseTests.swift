import Foundation
import Testing

/// The rooms of the house (Docs/Architecture.md), and how far the rest of it is.
@Suite struct HouseTests {
    private static let rooms: Set = [
        "Base", "CLibraries", "Commands", "Extras", "Keyring", "Latchkey", "SignIn", "Stores",
    ]

    /// The modules that a file imports, by its path below Sources.
    private static func imports() throws -> [(path: String, modules: [String])] { try allImports.get() }
    private static let allImports = Result {
        try Repository.sources().map { path, code in
            let pattern = #"(?m)^\s*(?:@\w+ )*(?:\w+ )?import (\w+)"#
            return (path, try Repository.matches(of: pattern, in: code).map { $0.groups[0] })
        }
    }

    /// The folders of modules below a room, as modules.
    private static func modules(of room: String) throws -> Set<String> {
        let folder = Repository.root.appendingPathComponent("Sources/\(room)").path
        return Set(try FileManager.default.contentsOfDirectory(atPath: folder).map { "Latchkey\($0)" })
    }

    private static func users(
        of modules: Set<String>, where isUser: (String) -> Bool
    ) throws -> [String] {
        try imports().filter { isUser($0.path) && !modules.isDisjoint(with: $0.modules) }.map(\.path)
    }

    @Test func `Sources and Tests have the same rooms, and no others`() throws {
        let manager = FileManager.default
        let sources = try manager.contentsOfDirectory(atPath: Repository.root.appendingPathComponent("Sources").path)
        #expect(Set(sources) == Self.rooms)
        let tests = try manager.contentsOfDirectory(atPath: Repository.root.appendingPathComponent("Tests").path)
        let folders = tests.filter { $0.first!.isUppercase }
        // The registers, what serves all tests, and tests of the whole.
        #expect(Set(folders).subtracting(["Evidence", "Kit", "Whole"]).isSubset(of: Self.rooms), "\(folders)")
    }

    @Test func `a module has the name of its folder`() throws {
        let manifest = try Repository.text("Package.swift")
        let modules = manifest.matches(of: /(module|system)\(\s*"(\w+)",\s*at: "([^"]+)"/)
        #expect(modules.count > 30)
        for module in modules {
            let folder = String(module.output.3.split(separator: "/").last!)
            #expect(["Latchkey\(folder)", "CLatchkey\(folder)", folder].contains(String(module.output.2)))
        }
    }

    /// They are one file where a disk doesn't distinguish them, as on a Mac.
    @Test func `no two names differ in case alone`() throws {
        var seen: [String: String] = [:]
        for folder in ["Sources", "Tests", "Docs", "Scripts"] {
            let walk = FileManager.default.enumerator(atPath: Repository.root.appendingPathComponent(folder).path)
            for case let path as String in try #require(walk) where !path.contains("__pycache__") {
                let name = "\(folder)/\(path)"
                if let other = seen.updateValue(name, forKey: name.lowercased()) {
                    Issue.record("\(name) and \(other)")
                }
            }
        }
        #expect(seen.count > 1000)
    }

    // MARK: - Directions

    @Test func `stores don't import sign-in`() throws {
        let signIn = try Self.modules(of: "SignIn")
        #expect(signIn.contains("LatchkeyOAuth"))
        #expect(try Self.users(of: signIn) { $0.hasPrefix("Stores/") } == [])
    }

    @Test func `sign-in imports no store but Credentials`() throws {
        let stores = try Self.modules(of: "Stores").subtracting(["LatchkeyCredentials"])
        #expect(stores.contains("LatchkeyVault"))
        #expect(try Self.users(of: stores) { $0.hasPrefix("SignIn/") } == [])
    }

    @Test func `Latchkey's own modules don't import an extra`() throws {
        let extras = try Self.modules(of: "Extras")
        #expect(extras.contains("LatchkeyTestServer"))
        let users = try Self.users(of: extras) { path in
            ["Base/", "Stores/", "SignIn/", "Keyring/", "Latchkey/"].contains { path.hasPrefix($0) }
        }
        #expect(users == [])
    }

    @Test func `only sign-in's commands import the network, and commands of stores don't import sign-in`() throws {
        func users(of modules: Set<String>, outside folders: [String]) throws -> [String] {
            try Self.users(of: modules) { path in
                path.hasPrefix("Commands/") && !folders.contains { path.hasPrefix("Commands/Commands/\($0)/") }
            }
        }
        let signIn = try Self.modules(of: "SignIn")
        #expect(try users(of: signIn, outside: ["SignIn", "Helpers", "Run", "Program"]) == [])
        #expect(try users(of: ["LatchkeyHTTP", "LatchkeyLoopback", "LatchkeyOAuth"], outside: ["SignIn"]) == [])
    }

    @Test func `one module alone imports each C library`() throws {
        var users: [String: Set<String>] = [:]
        for (path, modules) in try Self.imports() {
            let module = path.split(separator: "/").prefix(2).joined(separator: "/")
            for name in modules where name.hasPrefix("CLatchkey") { users[name, default: []].insert(module) }
        }
        #expect(users.count > 8)
        // The kernel's calls aren't a library's, the loader is our own, and the look at freed memory is a program's.
        let ours: Set = ["CLatchkeyLinux", "CLatchkeyLoad", "CLatchkeyProgramMemory"]
        for (library, modules) in users where !ours.contains(library) {
            #expect(modules.count == 1, "\(library): \(modules.sorted())")
        }
    }

    /// A second module with the system's headers once made each build choose one of the two as the owner of `stat` and
    /// `mode_t`, for everything that imports both: a release build failed, or the next debug build.
    @Test func `the system's types come from Glibc alone`() throws {
        let header = try Repository.text("Sources/CLibraries/Linux/include/latchkey_linux.h")
        let included = header.matches(of: /#include <([\w.\/]+)>/).map { String($0.output.1) }
        #expect(included == ["stddef.h", "stdint.h"])
    }

    @Test func `each file that the map names is there`() throws {
        let root = Repository.root.path
        let files = try ["Sources", "Tests"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(atPath: "\(root)/\(folder)").map { "/\(folder)/\($0)" }
        }
        let named = try Repository.text("Docs/Architecture.md").matches(of: /`([\w+\/]+\.swift)`/)
        #expect(named.count > 30)
        for name in Set(named.map(\.output.1)) {
            #expect(files.contains { $0.hasSuffix("/\(name)") }, "\(name)")
        }
    }

    // MARK: - How far it is

    /// Ceilings: a change may lower one, and raises none.
    @Test(arguments: [
        (
            "casts to concrete stores",
            #"\b(as[?!]?|is|case let \w+ as) +(VaultStore|SecretServiceStore|InMemoryStore)\b"#, 0
        ),
        ("names that went", "StoredItem|ItemSecret|VaultItemStore|ChangeReporter|ItemObserver|CredentialTransfer", 0),
        ("codeName written", #"var codeName: StaticString \{"#, 1),
        ("exit statuses decided", #"var \w+: ExitStatus \{"#, 1),
        ("calls of posix_spawn", #"posix_spawn\("#, 1),
    ])
    func `a figure of the house doesn't grow`(what: String, pattern: String, ceiling: Int) throws {
        let expression = try Regex(pattern)
        let lines = try Repository.sources(with: pattern).reduce(0) { count, file in
            count + file.code.split(separator: "\n").count { $0.contains(expression) }
        }
        #expect((min(1, ceiling)...ceiling).contains(lines), "\(what): \(lines)")
    }

    @Test func `files are neither many nor long`() throws {
        let lengths = try Repository.sources().map { path, _ in
            (path: path, lines: try Repository.lines("Sources/\(path)").count - 1)
        }
        #expect(lengths.count <= 460)
        #expect(lengths.count { $0.lines <= 30 } <= 7)
        #expect(lengths.filter { $0.lines > 400 }.map(\.path) == [])
        // A type in more than four files hides a second one.
        let types = Dictionary(grouping: lengths) { file in
            file.path.split(separator: "/").last!.prefix { $0 != "+" && $0 != "." }
        }
        #expect(types.allSatisfy { $0.value.count <= 4 }, "\(types.filter { $0.value.count > 4 }.keys)")
    }

    /// Foundation's networking is slow to start and a large library: nobody else may need it.
    @Test func `one module alone imports Foundation's networking, and no executable needs it`() throws {
        var importers: Set<String> = []
        for (path, code) in try Repository.sources() where code.contains("import FoundationNetworking\n") {
            importers.insert(path.split(separator: "/").prefix(2).joined(separator: "/"))
        }
        #expect(importers == ["Extras/Foundation"])
        let manifest = try Repository.text("Package.swift")
        let users = manifest.matches(
            of: /(?:module|\.target|\.executableTarget)\(\s*(?:name: )?"([\w-]+)",[^)]*"LatchkeyFoundation"/)
        #expect(users.map { String($0.output.1) } == [])
    }
}

/// What every module needs of the system is in one place each, below Sources/Base/System, or in the file that is named here.
@Suite struct OneFoundationTests {
    @Test(arguments: [
        ("pthread_create(", ["Base/System/SystemThread.swift"]),
        // The one lock on bytes of files; SQLite has its own.
        ("ofdSetLock", ["Base/System/PrivateFile.swift"]),
        ("\"XDG_CONFIG_HOME\"", ["Base/Process/ProgramEnvironment.swift"]),
        // Without the log's two, which must not raise SIGPIPE.
        ("Glibc.write(", ["Base/System/DescriptorBytes.swift", "Base/Log/TextLogSink.swift"]),
    ])
    func `only the listed places make a call`(_ call: String, _ places: [String]) throws {
        let users = try Repository.sources().filter { $0.1.contains(call) }.map(\.0)
        let others = users.filter { path in !places.contains { path.hasPrefix($0) } }
        #expect(!users.isEmpty && others.isEmpty, "\(others)")
    }

    /// One error is mapped into another by `mapError`; a `do` of its own decides something.
    @Test func `few errors are caught by hand`() throws {
        let count = try Repository.sources().reduce(0) { $0 + $1.1.components(separatedBy: "do throws(").count - 1 }
        #expect((1..<150).contains(count), "\(count)")
    }
}
