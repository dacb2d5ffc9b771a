internal import Glibc
package import LatchkeyLog

/// An open terminal.
package struct TerminalDevice: ~Copyable {
    enum Reading { case byte(UInt8), nothing, end, failed(number: Int32) }

    package let descriptor: Int32

    package init(path: String, question: LogMessage) throws(PromptError) {
        descriptor = unsafe open(path, O_RDWR | O_CLOEXEC | O_NOCTTY)
        if descriptor < 0 { throw PromptError(problem: .noTerminal(number: errno), question: question) }
    }

    deinit {
        close(descriptor)
    }

    /// The width in columns. A status line must be shorter, or the terminal scrolls.
    var width: Int { Self.width(of: descriptor) }

    private static func width(of descriptor: Int32) -> Int {
        var size = winsize()
        return unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) : 80
    }

    /// Writes over the line where the cursor is.
    func write(status line: String) { write(Self.status(line, on: descriptor)) }

    /// The text that writes over the line where the cursor is: with spaces, as a terminal may know no control sequences.
    package static func status(_ line: String, on descriptor: Int32) -> String {
        let width = width(of: descriptor) - 1
        let shown = line.prefix(width)
        return "\r\(shown)\(String(repeating: " ", count: width - shown.count))"
    }

    /// Writes a text for a person, broken at spaces where the terminal says how wide it is.
    func write(wrapping text: String) {
        var size = winsize()
        guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return write(text) }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
            .flatMap { WrappedText.lines($0, width: Int(size.ws_col)) }
        write(lines.joined(separator: "\n"))
    }

    package func write(_ text: String) {
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

    /// Turns off echo, line editing and the signals of keys, until `TerminalRescue.disarm` or `keepEchoOff`, or until a
    /// signal ends the process.
    ///
    /// Discards earlier typing, because the screen showed it or it answers another question.
    func enterSecretMode(question: LogMessage) throws(PromptError) {
        var present = termios()
        guard unsafe tcgetattr(descriptor, &present) == 0 else {
            throw PromptError(problem: .failed(number: errno), question: question)
        }
        var secret = present
        secret.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL | ICANON | ISIG | IEXTEN)
        secret.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | ISTRIP)
        unsafe withUnsafeMutableBytes(of: &secret.c_cc) { keys in
            unsafe keys[Int(VMIN)] = 1
            unsafe keys[Int(VTIME)] = 0
        }
        guard TerminalRescue.arm(descriptor: descriptor, saved: present), TerminalRescue.enter(&secret) else {
            let number = errno
            TerminalRescue.disarm()
            throw PromptError(problem: .failed(number: number), question: question)
        }
    }
}

/// Breaks text at spaces, for a width that a terminal has.
package enum WrappedText {
    /// A word that is too wide stays whole. Spaces before the text begin each line.
    package static func lines(_ text: some StringProtocol, width: Int) -> [String] {
        let margin = String(text.prefix { $0 == " " })
        var lines = [margin]
        for word in text.dropFirst(margin.count).split(separator: " ", omittingEmptySubsequences: false) {
            let line = lines[lines.count - 1]
            if line.count == margin.count {
                lines[lines.count - 1] += word
            } else if line.count + 1 + word.count <= width {
                lines[lines.count - 1] += " \(word)"
            } else {
                lines.append(margin + word)
            }
        }
        return lines
    }
}
