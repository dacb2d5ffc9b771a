internal import Glibc
internal import LatchkeySecrets
internal import LatchkeySystem

/// One way of a program's output: from its pipe or terminal to where ours goes.
final class MaskedStream {
    /// How long what may become a secret waits to be gone on with.
    private static let patience: Duration = .milliseconds(200)

    /// Where it comes from, or -1 after its end.
    private(set) var source: Int32
    private let isPipe: Bool
    private let target: Int32
    private var text = MaskedText()
    private var changed = ContinuousClock.now
    /// Whether a moment without more may show something.
    private(set) var isWaiting = false
    /// How many bytes the program had written at its end that aren't read yet.
    private var owed = 0

    /// - Parameter isPipe: whether the source is a pipe's end, which is this value's from now on, or a terminal.
    init(from source: Int32, isPipe: Bool, to target: Int32) {
        self.source = source
        self.isPipe = isPipe
        self.target = target
    }

    var isOpen: Bool { source >= 0 }
    /// Whether something that the program wrote isn't shown yet.
    var isOwing: Bool { isOpen && owed > 0 }

    /// Remembers how much the program has left behind.
    func programEnded() {
        var count: Int32 = 0
        if isOpen, unsafe ioctl(source, UInt(FIONREAD), &count) == 0 { owed = Int(count) }
    }

    /// Reads once, and shows what can be shown.
    func advance(_ mask: borrowing SecretMask) {
        do {
            let piece = try Secret<MessageBody>(readingFrom: source, atMost: 1 << 14)
            if piece.isEmpty { return finish(mask) }
            owed -= piece.byteCount
            let isTaken = show(text.take(piece, mask))
            isWaiting = text.isWaiting
            // From here on, not from the reading: what was read took time, and more may have come since.
            changed = .now
            // Its own pipe tells the program that nobody reads any more.
            if !isTaken && isPipe { close() }
        } catch {
            // EIO: no program has the terminal open any more.
            if error.number != EAGAIN { finish(mask) }
        }
    }

    /// Shows what has waited long enough.
    func showWaiting(_ mask: borrowing SecretMask) {
        guard isWaiting, changed.duration(to: .now) >= Self.patience else { return }
        _ = show(text.showWaiting(mask))
        isWaiting = false
    }

    /// Shows what is left.
    func finish(_ mask: borrowing SecretMask) {
        guard isOpen else { return }
        _ = show(text.finish(mask))
        close()
    }

    private func close() {
        if isPipe { Glibc.close(source) }
        source = -1
        isWaiting = false
    }

    /// Returns `false` when nobody takes it.
    private func show(_ bytes: [UInt8]) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe write(target, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if count < 0 && errno == EAGAIN {
                // Another program has made the descriptor so.
                var wanted = pollfd(fd: target, events: Int16(POLLOUT), revents: 0)
                _ = unsafe poll(&wanted, 1, -1)
            } else if count == 0 || errno != EINTR {
                return false
            }
        }
        return true
    }
}
