internal import Foundation
internal import Synchronization

/// A program that a test runs: `try Program("secret-tool").run(["lookup", …], environment: …)`.
///
/// Nothing of the test's own environment reaches it but a sanitizer's options, standard input is a pipe (or empty), and
/// it has no terminal.
public struct Program: Sendable {
    public static let searchPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"

    public let path: String

    /// Finds a program by name on the system's path, or takes an absolute path.
    public init(_ name: String) throws {
        let candidates = name.hasPrefix("/") ? [name] : Self.searchPath.split(separator: ":").map { "\($0)/\(name)" }
        guard let found = candidates.first(where: { unsafe access($0, X_OK) == 0 }) else {
            throw ServiceFailure.missing(program: name)
        }
        path = found
    }

    /// Runs the program to its end and returns what it said. A status other than 0 is not an error here.
    ///
    /// - Throws: `ServiceFailure` when it can't be started or runs past `timeout`; it is killed then.
    public func run(
        _ arguments: [String] = [], environment: [String: String] = ["PATH": Program.searchPath],
        input: [UInt8] = [], folder: String = "/", timeout: Duration = .seconds(300)
    ) async throws -> ProgramRun {
        let running = try start(arguments, environment: environment, folder: folder)
        running.send(input)
        return try await running.finish(within: timeout)
    }

    /// Starts the program and leaves it running; it is killed at the latest when the returned value dies.
    ///
    /// Its standard input stays open until `closeInput()` or `finish()`.
    ///
    /// - Parameters:
    ///   - terminal: becomes its controlling terminal, where it may ask questions through /dev/tty.
    ///   - streamsOnTerminal: whether its standard streams are that terminal too, rather than captured.
    public func start(
        _ arguments: [String] = [], environment: [String: String] = ["PATH": Program.searchPath], folder: String = "/",
        terminal: PseudoTerminal? = nil, streamsOnTerminal: Bool = false
    ) throws -> RunningProgram {
        try RunningProgram(
            path: path, arguments: arguments, environment: environment.merging(Self.options) { $1 }, folder: folder,
            terminal: terminal.map { Spawn.Terminal(path: $0.path, takesStreams: streamsOnTerminal) })
    }

    private static let options = ProcessInfo.processInfo.environment.filter {
        ["TSAN_OPTIONS", "ASAN_OPTIONS"].contains($0.key)
    }

    // MARK: - From C

    /// Compiles a C file, once for all tests that want it with the same options, and returns the path of the result.
    public static func compile(_ source: String, _ options: [String]) async throws -> String {
        let key = [source] + options
        return try await compiled.withLock { compiled in
            let task =
                compiled[key]
                ?? Task {
                    // It stays until the tests end, when Leash removes it.
                    let directory = try TestDirectory()
                    let path = directory / URL(fileURLWithPath: source).deletingPathExtension().lastPathComponent
                    try await Program("gcc").run(["-o", path, source] + options).successful("gcc")
                    return (directory, path)
                }
            compiled[key] = task
            return task
        }.value.path
    }
    private static let compiled = Mutex<[[String]: Task<(directory: TestDirectory, path: String), any Error>]>([:])
}

/// What a finished program said.
public struct ProgramRun: Sendable {
    /// The exit status; 128 + n for a program that signal n ended, as shells count.
    public let status: Int32
    /// Whether the kernel wrote a core dump, wherever to (`WCOREDUMP` in waitpid(2)).
    public let leftCore: Bool
    public let output: [UInt8]
    public let errorOutput: [UInt8]

    public var outputText: String { String(decoding: output, as: UTF8.self) }
    public var errorText: String { String(decoding: errorOutput, as: UTF8.self) }

    /// The run itself when it exited with 0, else an error that shows its standard error output.
    @discardableResult
    public func successful(_ what: String) throws -> ProgramRun {
        guard status == 0 else {
            throw ServiceFailure("\(what): exit status \(status)\n\(errorText)\(outputText)")
        }
        return self
    }
}

/// The executables that were built together with the tests.
public enum BuiltProducts {
    /// The folder that holds the test bundle, and so the executables: found from the loaded image, because the
    /// running program is the bundle itself or the toolchain's test helper that loaded it.
    public static func folder() throws -> String { try found.get() }

    private static let found = Result {
        let address = UInt(bitPattern: #dsohandle)
        let maps = try String(kernelFile: "/proc/self/maps")
        for line in maps.split(separator: "\n") {
            // address range, mode, offset, device, inode, path
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            let range = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard fields.count == 6, range.count == 2, range[0] <= address, address < range[1] else { continue }
            let image = fields[5].trimmingCharacters(in: .whitespaces)
            return URL(fileURLWithPath: image).deletingLastPathComponent().path
        }
        // With a sanitizer the image's data is mapped anew, without a name; the program is the bundle then.
        return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }

    public static func program(_ name: String) throws -> Program {
        let folder = try folder()
        guard unsafe access("\(folder)/\(name)", X_OK) == 0 else {
            throw ServiceFailure("`\(name)` is not built beside the tests, in \(folder): build with --build-tests")
        }
        return try Program("\(folder)/\(name)")
    }

    public static func latchkey() throws -> Program { try program("latchkey") }

    /// A PATH with `latchkey`, the other built programs, and the system's.
    public static func searchPath() throws -> String { try "\(folder()):\(Program.searchPath)" }
}

extension ProgramRun {
    /// The commands that `latchkey help commands` lists, section by section.
    public var listedCommands: [String] {
        outputText.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }.compactMap { line in
            let entry = line.dropFirst(2)
            return entry.firstRange(of: "  ").map { String(entry[..<$0.lowerBound]) }
        }
    }
}
