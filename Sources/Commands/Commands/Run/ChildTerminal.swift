internal import CLatchkeyLinux
internal import Glibc

/// A pseudo-terminal for a program's output, as wide and high as the person's own.
final class ChildTerminal {
    /// The end with the program's output and for the person's typing.
    let controller: Int32
    let path: String
    /// Kept open until the program has it.
    private(set) var device: Int32
    private let own: Int32

    /// - Parameters:
    ///   - own: the person's terminal.
    ///   - takesInput: whether the program's input comes from this terminal too. Otherwise only the person's terminal
    ///     processes the output.
    init?(like own: Int32, takesInput: Bool) {
        var name = [CChar](repeating: 0, count: 32)
        controller = unsafe latchkey_open_terminal(&name, name.count)
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        device = controller < 0 ? -1 : unsafe open(path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        self.own = own
        guard device >= 0 else { return nil }
        _ = fcntl(controller, F_SETFL, O_NONBLOCK)
        var attributes = termios()
        // If this process is in the background, the terminal belongs to the shell, perhaps in the middle of a line.
        let pattern = PassedTerminal.isOurs(own) ? own : device
        if unsafe tcgetattr(pattern, &attributes) == 0 {
            if !takesInput { attributes.c_oflag &= ~tcflag_t(OPOST) }
            unsafe tcsetattr(device, TCSANOW, &attributes)
        }
        copySize()
    }

    deinit {
        if controller >= 0 { close(controller) }
        if device >= 0 { close(device) }
    }

    /// Gives it the size of the person's terminal; the kernel tells the program.
    func copySize() {
        var size = winsize()
        if unsafe ioctl(own, UInt(TIOCGWINSZ), &size) == 0 { _ = unsafe ioctl(controller, UInt(TIOCSWINSZ), &size) }
    }

    /// The signal that a key sends to the program in the foreground now, or `nil`.
    func signal(of key: UInt8, to program: pid_t) -> Int32? {
        var attributes = termios()
        guard unsafe tcgetattr(controller, &attributes) == 0, attributes.c_lflag & tcflag_t(ISIG) != 0,
            tcgetpgrp(controller) == program
        else { return nil }
        let keys = unsafe withUnsafeBytes(of: &attributes.c_cc) { unsafe Array($0) }
        return [(VINTR, SIGINT), (VQUIT, SIGQUIT)].first { keys[Int($0.0)] == key && key != 0 }?.1
    }

    /// From then on the end of the program is the end of what can be read.
    func closeDevice() {
        close(device)
        device = -1
    }
}

/// The person's terminal while the program has a separate one. Each key goes to the program unchanged.
final class PassedTerminal {
    let descriptor: Int32
    private var saved = termios()
    private(set) var isPassed = false

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        unsafe tcgetattr(descriptor, &saved)
    }

    deinit { leave() }

    /// Whether this process is in the terminal's foreground.
    static func isOurs(_ descriptor: Int32) -> Bool {
        let foreground = tcgetpgrp(descriptor)
        return foreground < 0 || foreground == getpgrp()
    }

    /// Passes keys on, unless this process is in the background: then the terminal isn't ours to change.
    func enter() {
        guard !isPassed, Self.isOurs(descriptor) else { return }
        unsafe tcgetattr(descriptor, &saved)
        var raw = saved
        unsafe cfmakeraw(&raw)
        isPassed = unsafe tcsetattr(descriptor, TCSADRAIN, &raw) == 0
    }

    /// Puts the terminal back.
    func leave() {
        guard isPassed else { return }
        unsafe tcsetattr(descriptor, TCSADRAIN, &saved)
        isPassed = false
    }
}
