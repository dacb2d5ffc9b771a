internal import CTestProcess
internal import Foundation
internal import Synchronization

/// A terminal without a screen: what a program shows on it can be read, and what a person types can be sent.
///
/// Give it to `Program.start(terminal:)`: it becomes the program's controlling terminal, its /dev/tty.
public final class PseudoTerminal: Sendable {
    private let controller: Int32
    /// Held open, so that the terminal lives on between the programs that use it.
    private let device: Int32
    /// The device, for code that is told where the terminal is.
    public let path: String
    private let screen = Screen()

    public init() throws {
        controller = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)
        var name = [CChar](repeating: 0, count: 128)
        guard controller >= 0, grantpt(controller) == 0, unlockpt(controller) == 0,
            unsafe ptsname_r(controller, &name, name.count) == 0
        else { throw ServiceFailure.system("posix_openpt", errno) }
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        device = unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { throw ServiceFailure.system("open \(path)", errno) }
        Thread.detachNewThread { [controller, screen] in
            var chunk = [UInt8](repeating: 0, count: 4096)
            while true {
                let count = unsafe read(controller, &chunk, chunk.count)
                // EIO: nobody has the terminal open any more.
                guard count > 0 || (count < 0 && errno == EINTR) else { break }
                screen.add(chunk.prefix(max(0, count)))
            }
            close(controller)
        }
    }

    deinit { close(device) }

    /// Everything that was shown so far, echoed typing included. Line ends are CR LF, as a terminal gets them.
    public var shown: String { String(decoding: screen.bytes, as: UTF8.self) }

    /// Waits until a text is shown. What a program wrote arrives a moment later, even after the program's end.
    public func waitUntilShown(_ text: String, within timeout: Duration = .seconds(120)) async throws {
        let limit = ContinuousClock.now + timeout
        while !shown.contains(text) {
            guard ContinuousClock.now < limit else {
                throw ServiceFailure("the terminal never showed \"\(text)\", but:\n\(shown)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Whether the terminal shows what is typed now.
    public var echoes: Bool {
        var attributes = termios()
        return unsafe tcgetattr(device, &attributes) == 0 && attributes.c_lflag & tcflag_t(ECHO) != 0
    }

    /// Gives the terminal another size, as a person does by its window's edge.
    public func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = unsafe ioctl(device, UInt(TIOCSWINSZ), &size)
    }

    /// Whether Ctrl-C is a signal now, and no byte.
    public var sendsSignals: Bool {
        var attributes = termios()
        return unsafe tcgetattr(device, &attributes) == 0 && attributes.c_lflag & tcflag_t(ISIG) != 0
    }

    /// Types text, of any length. Enter is `\n` or `\r`, Ctrl-C is `\u{3}`, Ctrl-D is `\u{4}`.
    public func type(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(controller, $0.baseAddress, min($0.count, 512)) }
            if count < 0 && (errno == EINTR || errno == EAGAIN) { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Waits until the text is shown and echo is off, which is when a question for a secret can be answered.
    public func waitForQuestion(_ text: String, from program: RunningProgram) async throws {
        try await program.wait(for: "the question \"\(text)\"; shown: \(shown)") { shown.contains(text) && !echoes }
    }
}

/// What a terminal has shown.
private final class Screen: Sendable {
    private let shown = Mutex<[UInt8]>([])

    var bytes: [UInt8] { shown.withLock { $0 } }

    func add(_ bytes: ArraySlice<UInt8>) { shown.withLock { $0 += bytes } }
}
