internal import Glibc
internal import Synchronization

/// Puts the terminal back at the end of the questions, and when a signal comes in the midst of them: then it lets that
/// have its effect, the one that the program has set up for it, such as `Interruption`'s, or the end of the process.
enum TerminalRescue {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    // A signal handler can reach nothing but globals. They are written before the handler is set, by the one thread
    // that asks (one question at a time: there is one terminal), and only read in the handler.
    private nonisolated(unsafe) static var descriptor: Int32 = -1
    private nonisolated(unsafe) static var saved = termios()
    private nonisolated(unsafe) static var present = termios()
    private nonisolated(unsafe) static let former = UnsafeMutablePointer<sigaction>.allocate(capacity: 65)
    private nonisolated(unsafe) static var farewell = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 0)
    private static let came = Atomic<Bool>(false)
    private static let hadKey = Atomic<Bool>(false)

    /// Whether a signal came after `arm` and didn't end the process. Then the answer is no longer needed.
    static var isNeeded: Bool { came.load(ordering: .relaxed) }

    /// Whether a question has read Ctrl-C as a key, so that the terminal sent no signal.
    static var hasReadInterrupt: Bool { hadKey.load(ordering: .relaxed) }

    static func noteKey() { hadKey.store(true, ordering: .relaxed) }

    /// Whether the terminal has other settings than before the first question.
    static var isArmed: Bool { unsafe descriptor >= 0 }

    /// Sets the text that Ctrl-C prints on standard error before it ends the process.
    static func setFarewell(_ text: String) {
        unsafe farewell = .allocate(capacity: text.utf8.count)
        _ = unsafe farewell.initialize(from: text.utf8)
    }

    /// Remembers the terminal's settings, unless an earlier question did. Returns `false` and sets errno on a failure.
    static func arm(descriptor device: Int32, saved: termios) -> Bool {
        if isArmed { return true }
        // The question's own goes with the question.
        let own = fcntl(device, F_DUPFD_CLOEXEC, 0)
        guard own >= 0 else { return false }
        unsafe descriptor = own
        unsafe (Self.saved, present) = (saved, saved)
        came.store(false, ordering: .relaxed)
        var action = sigaction()
        unsafe action.__sigaction_handler.sa_handler = { TerminalRescue.handle($0) }
        action.sa_flags = SA_RESTART
        for number in signals {
            let before = unsafe former + Int(number)
            unsafe sigaction(number, nil, before)
            if !SignalEffect.isIgnored(number) { unsafe sigaction(number, &action, nil) }
        }
        return true
    }

    /// Throws away what was typed ahead, too.
    static func enter(_ mode: inout termios) -> Bool {
        unsafe present = mode
        return unsafe tcsetattr(descriptor, TCSAFLUSH, &mode) == 0
    }

    /// Restores all settings but the echo, so that the terminal doesn't show what the person types before the next question.
    static func keepEchoOff() {
        var quiet = unsafe saved
        quiet.c_lflag &= ~tcflag_t(ECHO | ECHONL)
        unsafe present = quiet
        unsafe tcsetattr(descriptor, TCSADRAIN, &quiet)
    }

    /// Restores the terminal. Discards what was typed ahead, because it may be a secret that a shell would show and store.
    static func disarm() {
        guard isArmed else { return }
        unsafe tcsetattr(descriptor, TCSAFLUSH, &saved)
        for number in signals {
            var current = sigaction()
            unsafe sigaction(number, nil, &current)
            // The program's own handler may have given the signal its ordinary effect back.
            if unsafe current.__sigaction_handler.sa_handler != nil {
                unsafe sigaction(number, former + Int(number), nil)
            }
        }
        unsafe close(descriptor)
        unsafe descriptor = -1
    }

    /// Everything called here is async-signal-safe (signal-safety(7)).
    private static func handle(_ number: Int32) {
        if number != SIGTSTP { unsafe tcflush(descriptor, TCIFLUSH) }
        unsafe tcsetattr(descriptor, TCSANOW, &saved)
        if number == SIGTSTP {
            raise(SIGSTOP)
            // Going on, in the foreground again.
            unsafe tcsetattr(descriptor, TCSANOW, &present)
        } else if let handler = unsafe former[Int(number)].__sigaction_handler.sa_handler {
            came.store(true, ordering: .relaxed)
            handler(number)
        } else {
            if number == SIGINT { _ = unsafe write(2, farewell.baseAddress, farewell.count) }
            signal(number, SIG_DFL)
            raise(number)
        }
    }
}

/// The effect of a signal on this process.
package enum SignalEffect {
    /// Whether the process's starter has it ignore the signal, as nohup(1) does with SIGHUP. Such a signal is to stay
    /// ignored.
    package static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        return unsafe unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
            == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
