internal import Glibc

/// What a signal does to this process.
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
