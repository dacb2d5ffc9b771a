import Foundation

/// The compiler that built this test, with the options of the package and the modules of the build in progress.
struct Compiler: Sendable {
    struct Diagnostic: Sendable, Hashable {
        let line: Int
        let text: String
    }

    struct Outcome: Sendable {
        let status: Int32
        let errors: [Diagnostic]
        let output: String
    }

    struct NotFound: Error {
        let what: String
    }

    let executable: String
    /// The folder of the build's modules.
    let modules: String
    /// Where modules, C modules among them, are found.
    let searchOptions: [String]
    private let options: [String]
    private let features: [String]

    /// Finds the compiler beside the standard library in use, and the modules beside the test's executable.
    init() throws {
        // Its size is given as 0, so it must be read to the end.
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/self/maps"))
        let maps = String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
        let library = maps.split(separator: "\n").compactMap { line in
            line.range(of: "/lib/swift/linux/libswiftCore.so").map { line[..<$0.lowerBound] }
        }.first
        guard let library, let slash = library.firstIndex(of: "/") else { throw NotFound(what: "libswiftCore.so") }
        executable = library[slash...] + "/bin/swift-frontend"

        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        modules = bundle.appendingPathComponent("Modules").path
        guard FileManager.default.fileExists(atPath: modules + "/LatchkeySecrets.swiftmodule") else {
            throw NotFound(what: modules + "/LatchkeySecrets.swiftmodule")
        }
        let sources = CompileCase.package.appendingPathComponent("Sources").path
        let libraries = try FileManager.default.contentsOfDirectory(atPath: sources + "/CLibraries").sorted()
        // These maps are ours: what they name is loaded, not linked to.
        let moduleMaps = libraries.flatMap { ["\($0)", "\($0)/include"] }.map {
            "\(sources)/CLibraries/\($0)/module.modulemap"
        }
        .filter { FileManager.default.fileExists(atPath: $0) }
        features = [
            "ExistentialAny", "MemberImportVisibility", "InternalImportsByDefault", "NonisolatedNonsendingByDefault",
        ]
        // Ownership and lifetimes are checked after the types, so typechecking alone would miss them.
        searchOptions =
            ["-module-cache-path", Self.cache(beside: modules)]
            + moduleMaps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] }
            // Each library that is loaded includes the loader's header.
            + ["-Xcc", "-I\(sources)/CLibraries/Load/include"]
            // The build writes the map of a module that is in C.
            + ["-Xcc", "-fmodule-map-file=\(bundle.path)/CLatchkeyProgramMemory.build/module.modulemap"]
        options =
            ["-frontend", "-emit-sil", "-o", "/dev/null", "-swift-version", "6", "-strict-memory-safety"]
            + ["-warnings-as-errors", "-I", modules] + searchOptions
            + features.flatMap { ["-enable-upcoming-feature", $0] }
    }

    /// The build's own cache of C modules, where this user may write it: the default would be in the home directory.
    private static func cache(beside modules: String) -> String {
        let shared = URL(fileURLWithPath: modules).deletingLastPathComponent().appendingPathComponent("ModuleCache")
            .path
        return FileManager.default.isWritableFile(atPath: shared) ? shared : "/tmp/lk-module-cache-\(getuid())"
    }

    /// Compiles a file as a stranger's, or as one of the package's own where its first line says so.
    func compile(_ path: String, _ more: [String] = []) async throws -> Outcome {
        let package = try Self.isOfPackage(path) ? packageOptions : []
        let run = try await Self.run(executable, options + package + more + [path])
        return Outcome(status: run.status, errors: Self.errors(in: run.output, of: path), output: run.output)
    }

    /// Compiles files, with the outcomes of `compile(_:_:)`. One compiler takes many files, because it starts slowly.
    func compile(_ paths: [String]) async throws -> [Outcome] {
        var outcomes: [String: Outcome] = [:]
        let alone = try paths.filter { try !Self.isPrivate($0) }
        for path in alone { outcomes[path] = try await compile(path) }
        let together = try Dictionary(grouping: paths.filter { !alone.contains($0) }, by: Self.isOfPackage)
        for (isOfPackage, paths) in together {
            var (rest, step) = (paths, ["-typecheck"])
            // An error keeps the other files from later checks, so those without errors are compiled again until a run
            // finds none. That run's status is theirs.
            while !rest.isEmpty {
                let more = ["-parse-as-library"] + step + (isOfPackage ? packageOptions : []) + rest
                let run = try await Self.run(executable, options + more)
                for path in rest {
                    let errors = Self.errors(in: run.output, of: path)
                    outcomes[path] = Outcome(status: run.status, errors: errors, output: run.output)
                }
                let sound = rest.filter { outcomes[$0]?.errors.isEmpty == true }
                if step.isEmpty && sound.count == rest.count { break }
                (rest, step) = (sound, [])
            }
        }
        return try paths.map { path in
            guard let outcome = outcomes[path] else { throw NotFound(what: path) }
            return outcome
        }
    }

    private static func isOfPackage(_ path: String) throws -> Bool {
        try String(contentsOfFile: path, encoding: .utf8).hasPrefix("// Compiled as a part of the package")
    }

    /// Whether nothing in a file can be seen by files that are compiled with it.
    private static func isPrivate(_ path: String) throws -> Bool {
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        let starts = ["import ", "public import ", "private ", "// ", "}", " "]
        return lines.allSatisfy { line in starts.contains { line.hasPrefix($0) } }
    }

    /// Where the macros of tests are, such as `#expect`.
    var macroOptions: [String] {
        let toolchain = URL(fileURLWithPath: executable).deletingLastPathComponent().deletingLastPathComponent()
        return ["-plugin-path", toolchain.appendingPathComponent("lib/swift/host/plugins").path]
    }

    /// Compiles files into a module of their own in a folder.
    func emitModule(
        _ name: String, from paths: [String], into folder: String, _ more: [String] = []
    ) async throws -> (status: Int32, output: String) {
        try await Self.run(
            executable,
            ["-frontend", "-emit-module", "-module-name", name, "-swift-version", "6", "-parse-as-library"]
                + ["-o", "\(folder)/\(name).swiftmodule", "-I", modules] + searchOptions + more + paths)
    }

    /// The options that make code a part of the package, as its own modules are. The build names a package by its
    /// folder.
    var packageOptions: [String] {
        let folder = CompileCase.package.standardizedFileURL.lastPathComponent.lowercased()
        let name = folder.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
        return ["-package-name", name] + features.flatMap { ["-enable-upcoming-feature", $0] }
    }

    /// Runs a program of the toolchain; its standard error and status.
    static func run(_ program: String, _ arguments: [String]) async throws -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        // A file, since a full pipe would stop the compiler.
        let report = "/tmp/lk-\(UInt64.random(in: 0 ... .max))"
        try Data().write(to: URL(fileURLWithPath: report))
        defer { try? FileManager.default.removeItem(atPath: report) }
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: report))
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.run() } catch { continuation.resume(throwing: error) }
        }
        return (process.terminationStatus, try String(contentsOfFile: report, encoding: .utf8))
    }

    /// The compiler's lines `PATH:LINE:COLUMN: error: TEXT [#group]`.
    private static func errors(in output: String, of path: String) -> [Diagnostic] {
        output.split(separator: "\n").compactMap { line in
            guard line.hasPrefix(path + ":") else { return nil }
            let parts = line.dropFirst(path.count + 1).split(separator: ":", maxSplits: 3)
            guard parts.count == 4, parts[2] == " error", let number = Int(parts[0]) else { return nil }
            return Diagnostic(line: number, text: parts[3].trimmingCharacters(in: .whitespaces))
        }
    }
}
