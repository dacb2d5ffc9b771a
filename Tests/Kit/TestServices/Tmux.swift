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

    fileprivate func command(_ arguments: String...) async throws -> String {
        try await Program("tmux").run(["-S", socket] + arguments, environment: environment).successful("tmux")
            .outputText
    }

    /// Starts a command of the shell on a screen of its own.
    public func start(_ command: String) async throws -> Screen {
        let name = count.withLock { count in
            count += 1
            return "screen\(count)"
        }
        // Not before its bytes are recorded.
        _ = try await self.command(
            "new-session", "-d", "-s", name, "-x", "\(columns)", "-y", "\(rows)", "-c", directory.path,
            "tmux -S '\(socket)' wait-for \(name); \(command); printf '\\n\(Self.end)%s' $?; exec cat")
        let record = directory / name
        _ = try await self.command("pipe-pane", "-t", name, "cat > '\(record)'")
        try await server.wait(for: "the record of \(name)") { FileManager.default.fileExists(atPath: record) }
        _ = try await self.command("wait-for", "-S", name)
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
        public func lines() async throws -> [String] {
            try await allLines().filter { !$0.hasPrefix(Tmux.end) }
        }

        /// The same as one line, in which breaks between words are spaces.
        public func text() async throws -> String {
            try await lines().joined(separator: " ").split(whereSeparator: \.isWhitespace).joined(separator: " ")
        }

        /// The lines with the control sequences of their colours.
        public func colouredText() async throws -> String {
            try await tmux.command("capture-pane", "-p", "-e", "-S", "-", "-t", name)
        }

        /// Every byte that the terminal got.
        public func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: record))) }

        public func waitUntilShown(_ text: String) async throws {
            try await tmux.server.wait(for: "\"\(text)\" on the screen, which shows: \(try await lines())") {
                try await self.text().contains(text)
            }
        }

        /// Types a line, Enter included.
        public func type(_ line: String) async throws {
            if !line.isEmpty { _ = try await tmux.command("send-keys", "-t", name, "-l", line) }
            _ = try await tmux.command("send-keys", "-t", name, "Enter")
        }

        /// Waits for the command's end, and returns its exit status and what the screen shows then.
        public func finish() async throws -> (status: Int32, text: String) {
            var status: Int32?
            try await tmux.server.wait(for: "the end of \(name), which shows: \(try await lines())") {
                guard let line = try await allLines().last(where: { $0.hasPrefix(Tmux.end) }) else { return false }
                status = Int32(line.dropFirst(Tmux.end.count).filter(\.isNumber))
                // What is recorded comes a moment later.
                return String(decoding: try bytes(), as: UTF8.self).contains(Tmux.end)
            }
            return (status ?? -1, try await text())
        }
    }
}
