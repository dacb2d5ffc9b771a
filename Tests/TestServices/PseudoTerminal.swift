internal import CTestProcess
internal import Foundation

/// A terminal whose keyboard and screen are the test.
public final class PseudoTerminal: Sendable {
    private let keyboard: Int32
    /// The device that a program opens as its terminal.
    public let path: String

    public init() throws {
        keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard keyboard >= 0, grantpt(keyboard) == 0, unlockpt(keyboard) == 0 else {
            throw ServiceFailure.system("posix_openpt", errno)
        }
        var name = [CChar](repeating: 0, count: 128)
        guard unsafe ptsname_r(keyboard, &name, UInt(name.count)) == 0 else {
            throw ServiceFailure.system("ptsname_r", errno)
        }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        close(keyboard)
    }

    /// Types, as a keyboard would.
    public func type(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(keyboard, $0.baseAddress, $0.count) }
            if count < 0 && errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    public func type(_ text: String) { type(Array(text.utf8)) }

    /// Reads the screen until `text` has appeared, and returns all that did. It never blocks a thread.
    public func read(until text: String, within timeout: Duration = .seconds(30)) async throws -> String {
        let limit = ContinuousClock.now + timeout
        var screen: [UInt8] = []
        while true {
            let shown = String(decoding: screen, as: UTF8.self)
            if shown.contains(text) { return shown }
            guard ContinuousClock.now < limit else {
                throw ServiceFailure("`\(text)` did not appear on the terminal within \(timeout), but:\n\(shown)")
            }
            let more = readSome()
            if more.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            screen += more
        }
    }

    /// What is on the screen and not read yet.
    public func readRest() -> String {
        var screen: [UInt8] = []
        while true {
            let more = readSome()
            if more.isEmpty { return String(decoding: screen, as: UTF8.self) }
            screen += more
        }
    }

    private func readSome() -> [UInt8] {
        var wanted = pollfd(fd: keyboard, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&wanted, 1, 0) > 0 else { return [] }
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = unsafe Foundation.read(keyboard, &chunk, chunk.count)
        // EIO: no program has the terminal open.
        guard count > 0 else { return [] }
        return Array(chunk[..<count])
    }

    /// Whether the terminal shows what is typed, as programs left it.
    public var echoes: Bool {
        let device = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(device) }
        var mode = termios()
        guard unsafe tcgetattr(device, &mode) == 0 else { return false }
        return mode.c_lflag & tcflag_t(ECHO) != 0 && mode.c_lflag & tcflag_t(ICANON) != 0
    }
}
