internal import Foundation
internal import Synchronization

/// A terminal with a screen: tmux, as people use it, without a window. One server for a test, with a screen for each
/// command; it ends with the value.
public final class Tmux: Sendable {
    private let server: RunningProgram
    private let socket: String
    private let directory: TestDirectory
    private let environment: [String: String]
    private let count = Mutex(0)
    /// What stands on a screen after the command, before its status: all that it showed has arrived then.
    private static let end = "the end: "
    public let columns: Int
    public let rows: Int

    public init(columns: Int, rows: Int, in directory: TestDirectory, environment: [String: String]) async throws {
        (self.columns, self.rows, self.directory) = (columns, rows, directory)
        self.environment = environment
        socket = directory / "tmux"
        // Not the user's own shell, which may let nobody in.
        let configuration = try directory.write("tmux.conf", "set -g status off\nset -g default-shell /bin/sh\n")
        server = try Program("tmux").start(["-S", socket, "-f", configuration, "-D"], environment: environment)
        let socket = socket
        try await server.wait(for: "tmux's socket") { FileManager.default.fileExists(atPath: socket) }
    }

    @discardableResult
    fileprivate func command(_ arguments: String...) async throws -> String { try await command(arguments) }

    @discardableResult
    fileprivate func command(_ arguments: [String]) async throws -> String {
        try await Program("tmux").run(["-S", socket] + arguments, environment: environment).successful("tmux")
            .outputText
    }

    /// Starts a command of the shell on a screen of its own.
    public func start(_ command: String) async throws -> Screen {
        let name = count.withLock { count in
            count += 1
            return "screen\(count)"
        }
        let record = directory / name
        // Not before its bytes are recorded.
        try await self.command(
            "new-session", "-d", "-s", name, "-x", "\(columns)", "-y", "\(rows)", "-c", directory.path,
            "tmux -S '\(socket)' wait-for \(name); \(command); printf '\\n\(Self.end)%s' $?; exec cat",
            ";", "pipe-pane", "-t", name, "cat > '\(record)'")
        try await server.wait(for: "the record of \(name)") { FileManager.default.fileExists(atPath: record) }
        try await self.command("wait-for", "-S", name)
        return Screen(tmux: self, name: name, record: record)
    }

    /// One command's screen.
    public final class Screen: Sendable {
        private let tmux: Tmux
        private let name: String
        private let record: String

        fileprivate init(tmux: Tmux, name: String, record: String) {
            (self.tmux, self.name, self.record) = (tmux, name, record)
        }

        private func allLines() async throws -> [String] {
            try await tmux.command("capture-pane", "-p", "-J", "-S", "-", "-t", name)
                .split(separator: "\n").map(String.init)
        }

        /// The lines, what was scrolled away included; those that the terminal broke are whole again.
        public func lines() async throws -> [String] { Self.shown(try await allLines()) }

        /// The same as one line, in which breaks between words are spaces.
        public func text() async throws -> String { Self.joined(try await lines()) }

        private static func shown(_ lines: [String]) -> [String] { lines.filter { !$0.hasPrefix(Tmux.end) } }

        private static func joined(_ lines: [String]) -> String {
            lines.joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }

        /// The lines with the control sequences of their colours.
        public func colouredText() async throws -> String {
            try await tmux.command("capture-pane", "-p", "-e", "-S", "-", "-t", name)
        }

        /// Every byte that the terminal got.
        public func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: record))) }

        public func waitUntilShown(_ text: String) async throws {
            try await wait(for: "\"\(text)\" on the screen") { _ in try await self.text().contains(text) }
        }

        /// Waits until a condition holds, which is tried whenever more bytes are recorded: the screen has those already.
        private func wait(for what: String, until condition: ([UInt8]) async throws -> Bool) async throws {
            var count = -1
            do {
                try await tmux.server.wait(for: what) {
                    let bytes = try bytes()
                    guard bytes.count != count else { return false }
                    count = bytes.count
                    return try await condition(bytes)
                }
            } catch {
                throw ServiceFailure("\(error); the screen shows: \(try await lines())")
            }
        }

        /// Types a line, Enter included.
        public func type(_ line: String) async throws {
            let enter = ["send-keys", "-t", name, "Enter"]
            try await tmux.command((line.isEmpty ? [] : ["send-keys", "-t", name, "-l", line, ";"]) + enter)
        }

        /// Waits for the command's end, and returns its exit status and what the screen shows then.
        public func finish() async throws -> (status: Int32, text: String) {
            var status: Int32?
            var shown: [String] = []
            try await wait(for: "the end of \(name)") { bytes in
                guard String(decoding: bytes, as: UTF8.self).contains(Tmux.end) else { return false }
                let lines = try await allLines()
                guard let line = lines.last(where: { $0.hasPrefix(Tmux.end) }) else { return false }
                status = Int32(line.dropFirst(Tmux.end.count).filter(\.isNumber))
                shown = Self.shown(lines)
                return true
            }
            return (status ?? -1, Self.joined(shown))
        }
    }
}
