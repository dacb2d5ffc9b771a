internal import Glibc
internal import LatchkeyLog
internal import LatchkeySystem
internal import Synchronization

/// An open terminal.
struct TerminalDevice: ~Copyable {
    enum Reading { case byte(UInt8), nothing, end, failed(number: Int32) }

    let descriptor: Int32

    init(path: String, question: LogMessage) throws(PromptError) {
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        if descriptor < 0 { throw PromptError(problem: .noTerminal(number: errno), question: question) }
    }

    deinit {
        close(descriptor)
    }

    /// In columns; a line that is written over must stay below it, or the terminal scrolls.
    var width: Int {
        var size = winsize()
        return unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) : 80
    }

    func write(_ text: String) {
        _ = try? DescriptorBytes.write(text.utf8.span, to: descriptor)
    }

    /// Returns `nothing` when no key was pressed in time.
    func readByte(within timeout: Duration) -> Reading {
        var byte: UInt8 = 0
        while true {
            var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = unsafe poll(&wanted, 1, Int32(timeout / .milliseconds(1)))
            if ready == 0 { return .nothing }
            if ready < 0 && errno != EINTR { return .failed(number: errno) }
            if ready < 0 { continue }
            let count = unsafe read(descriptor, &byte, 1)
            if count == 1 { return .byte(byte) }
            // A terminal that is hung up is at its end, or for a moment an input/output error (read(2)).
            if count == 0 || errno == EIO { return .end }
            if errno != EINTR { return .failed(number: errno) }
        }
    }

    /// Turns off echo, line editing and the signals of keys, until `leave`.
    ///
    /// What was typed before the question is thrown away: it was shown on the screen.
    func enterSecretMode(question: LogMessage) throws(PromptError) -> SecretMode {
        var saved = termios()
        guard unsafe tcgetattr(descriptor, &saved) == 0 else {
            throw PromptError(problem: .failed(number: errno), question: question)
        }
        var secret = saved
        secret.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL | ICANON | ISIG | IEXTEN)
        secret.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | ISTRIP)
        unsafe withUnsafeMutableBytes(of: &secret.c_cc) { keys in
            unsafe keys[Int(VMIN)] = 1
            unsafe keys[Int(VTIME)] = 0
        }
        return try SecretMode(descriptor: descriptor, saved: saved, entering: secret, question: question)
    }
}

/// A terminal without echo. Ends with `leave`, or with a signal that ends the process.
struct SecretMode: ~Copyable {
    private let descriptor: Int32
    private let saved: termios

    fileprivate init(
        descriptor: Int32, saved: termios, entering secret: termios, question: LogMessage
    ) throws(PromptError) {
        self.descriptor = descriptor
        self.saved = saved
        TerminalRescue.arm(descriptor: descriptor, saved: saved)
        var secret = secret
        if unsafe tcsetattr(descriptor, TCSAFLUSH, &secret) != 0 {
            let number = errno
            TerminalRescue.disarm()
            throw PromptError(problem: .failed(number: number), question: question)
        }
    }

    borrowing func leave() {
        var saved = saved
        unsafe tcsetattr(descriptor, TCSADRAIN, &saved)
        TerminalRescue.disarm()
    }
}

/// Puts the terminal back when a signal comes in the middle of a question, and then lets it have its effect: the one
/// that the program has set up for it, such as `Interruption`'s, or the end of the process.
enum TerminalRescue {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    // A signal handler can reach nothing but globals. They are written before the handler is set, by the one thread
    // that asks (one question at a time: there is one terminal), and only read in the handler.
    private nonisolated(unsafe) static var descriptor: Int32 = -1
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static let former = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    private static let came = Atomic<Bool>(false)

    /// Whether a signal has come since `arm` that didn't end the process: nobody waits for the answer any more.
    static var isNeeded: Bool { came.load(ordering: .relaxed) }

    static func arm(descriptor: Int32, saved: termios) {
        unsafe Self.descriptor = descriptor
        unsafe Self.saved = saved
        came.store(false, ordering: .relaxed)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { number in
            // tcsetattr, signal and raise are async-signal-safe (signal-safety(7)).
            unsafe tcsetattr(TerminalRescue.descriptor, TCSANOW, &TerminalRescue.saved)
            if let handler = unsafe TerminalRescue.former[Int(number)].__sigaction_handler.sa_handler {
                TerminalRescue.came.store(true, ordering: .relaxed)
                handler(number)
            } else {
                signal(number, SIG_DFL)
                raise(number)
            }
        }
        for number in signals {
            let before = unsafe former + Int(number)
            unsafe sigaction(number, nil, before)
            if !SignalEffect.isIgnored(number) { unsafe sigaction(number, &action, nil) }
        }
    }

    static func disarm() {
        for number in signals {
            var present = sigaction()
            unsafe sigaction(number, nil, &present)
            // The program's own handler may have given the signal its ordinary effect back.
            if unsafe present.__sigaction_handler.sa_handler != nil {
                unsafe sigaction(number, former + Int(number), nil)
            }
        }
    }
}
