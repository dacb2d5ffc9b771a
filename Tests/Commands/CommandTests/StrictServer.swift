internal import Foundation
internal import TestServices

/// A server that runs, and what clients did there. It ends with this value.
final class StrictServer: Sendable {
    /// Starts all of them: what a server takes to start is mostly what it imports.
    private static let starter = Result {
        try Program("/usr/bin/python3").start([TestData.folder().appendingPathComponent("strict_server.py").path])
    }

    private let directory: TestDirectory
    private let input: FileHandle
    let issuer: String

    /// - Parameter settings: as in the program's own description, in one line.
    init(_ settings: String) async throws {
        let directory = try TestDirectory()
        self.directory = directory
        guard unsafe mkfifo(directory / "input", 0o600) == 0 else { throw ServiceFailure("mkfifo: \(errno)") }
        // For reading, too: nobody else has it open yet.
        let descriptor = unsafe open(directory / "input", O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { throw ServiceFailure("open: \(errno)") }
        input = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        let starter = try Self.starter.get()
        starter.type("\(directory.path) \(settings)\n")
        try await starter.wait(for: "its address") { Self.output(directory).contains("\n") }
        issuer = String(Self.output(directory).prefix { $0 != "\n" })
    }

    private static func output(_ directory: TestDirectory) -> String {
        String(decoding: (try? directory.read("output")) ?? [], as: UTF8.self)
    }

    var events: [String] { Self.output(directory).split(separator: "\n").dropFirst().map(String.init) }

    /// Takes more settings. Returns once they hold.
    func change(_ settings: String) async throws {
        let count = events.count { $0 == "changed" }
        try input.write(contentsOf: Data((settings + "\n").utf8))
        try await Self.starter.get().wait(for: "its change") { events.count { $0 == "changed" } > count }
    }
}
