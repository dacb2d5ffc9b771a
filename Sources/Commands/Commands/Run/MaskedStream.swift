internal import Glibc

/// One way of a program's output: from its pipe or terminal to where ours goes.
final class MaskedStream {
    /// The time that the possible beginning of a secret waits for the rest.
    private static let patience: Duration = .milliseconds(200)

    /// The source's descriptor, or -1 after its end.
    private(set) var source: Int32
    private let isPipe: Bool
    private let target: Int32
    /// The target of the output: a descriptor that doesn't wait, if there is one.
    let output: Int32
    /// The text that can be shown and isn't written yet. Nothing more is read until all of it is written.
    private(set) var queue: ArraySlice<UInt8> = []
    private var text = MaskedText()
    private var changed = ContinuousClock.now
    /// Whether a moment without more may show something.
    private(set) var isWaiting = false
    /// How many bytes the program had written at its end that aren't read yet.
    private var owed = 0
    /// Why some of the output wasn't written; `nil` if the reader has ended, or a terminal is gone.
    private(set) var failure: CommandFailure?

    /// - Parameter isPipe: whether the source is a pipe's end, which is this value's from now on, or a terminal.
    init(from source: Int32, isPipe: Bool, to target: Int32) {
        self.source = source
        self.isPipe = isPipe
        self.target = target
        output = DescriptorBytes.withoutWaiting(target) ?? target
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
            show(text.take(piece, mask))
            isWaiting = isOpen && text.isWaiting
            // The time counts from here and not from the reading, which took time itself.
            changed = .now
        } catch {
            // EIO: no program has the terminal open.
            if error.number != EAGAIN { finish(mask) }
        }
    }

    /// Shows what has waited long enough.
    func showWaiting(_ mask: borrowing SecretMask) {
        // While the queue waits, the source isn't read: what follows may be there.
        guard isWaiting, queue.isEmpty, changed.duration(to: .now) >= Self.patience else { return }
        isWaiting = false
        show(text.showWaiting(mask))
    }

    /// Shows what is left.
    func finish(_ mask: borrowing SecretMask) {
        guard isOpen else { return }
        show(text.finish(mask))
        close()
    }

    /// Leaves what the reader hasn't taken.
    func giveUp() {
        if isPipe && !queue.isEmpty { failure = .cannotWriteOutput(EAGAIN, to: target) }
    }

    private func close() {
        if isPipe && isOpen { Glibc.close(source) }
        source = -1
        isWaiting = false
    }

    private func show(_ bytes: [UInt8]) {
        queue += bytes
        writeQueue()
    }

    /// Writes as much as the output accepts at once: a slow reader must not stop the other stream or a signal.
    ///
    /// If the reader has ended, the program learns of it by its own pipe. The program goes on if the disk is full, as
    /// it might without Latchkey.
    func writeQueue() {
        while !queue.isEmpty {
            // A pipe that is ready takes so much without waiting (pipe(7)).
            var wanted = pollfd(fd: output, events: Int16(POLLOUT), revents: 0)
            if output == target, unsafe poll(&wanted, 1, 0) == 0 { return }
            let piece = queue.prefix(output == target ? Int(PIPE_BUF) : queue.count)
            let count = unsafe piece.withUnsafeBytes { unsafe DescriptorBytes.writeOnce($0, to: output) }
            if count > 0 {
                queue = queue.dropFirst(count)
                if queue.isEmpty { changed = .now }
            } else if count < 0 && errno == EAGAIN {
                return
            } else if count == 0 || errno != EINTR {
                let number = errno
                queue = []
                if isPipe && number == EPIPE { close() }
                // A program doesn't miss a standard error that is closed.
                if isPipe, number != EPIPE, target == 1 || number != EBADF {
                    failure = .cannotWriteOutput(number, to: target)
                }
                return
            }
        }
    }
}

/// Replaces secrets in a text that comes in pieces.
///
/// Only the possible beginning of a secret waits for the following text, in guarded memory. If no text follows for a
/// while, as after a question, up to half of the possible secret is shown, at most 16 characters (`showWaiting`). The rest
/// of the secret is replaced.
package struct MaskedText: ~Copyable {
    private static let replacement = Array("***".utf8)

    private var waiting = SecretBuilder()
    /// How many of the bytes that wait are replaced already, and how many are shown.
    private var replacedCount = 0
    private var shownCount = 0
    /// Whether the last shown text replaces a secret. The replacement goes on if nothing was shown in between.
    private var endsReplaced = false

    package init() {}

    /// Whether something waits that isn't shown yet.
    package var isWaiting: Bool { waiting.byteCount > max(replacedCount, shownCount) }

    /// Takes the next piece, and returns what can be shown.
    package mutating func take(_ piece: borrowing Secret<MessageBody>, _ mask: borrowing SecretMask) -> [UInt8] {
        // `waiting` grows without a limit, so this doesn't throw.
        try? waiting.append(piece)
        return advance(mask, isEnd: false)
    }

    /// Returns all that waits, at the end of the text.
    package mutating func finish(_ mask: borrowing SecretMask) -> [UInt8] { advance(mask, isEnd: true) }

    /// Returns what waits, unless it has more than half of a secret, or a secret that isn't replaced yet.
    package mutating func showWaiting(_ mask: borrowing SecretMask) -> [UInt8] {
        let first = max(replacedCount, shownCount)
        let shown = waiting.withExposedBytes { bytes -> [UInt8] in
            for index in bytes.indices {
                let found = mask.beginning(at: index, of: bytes)
                if found.isMostlyThere || found.whole > 0 && index + found.whole > first { return [] }
            }
            return (first..<bytes.count).map { bytes[$0] }
        }
        if !shown.isEmpty {
            shownCount = waiting.byteCount
            endsReplaced = false
        }
        return shown
    }

    private mutating func advance(_ mask: borrowing SecretMask, isEnd: Bool) -> [UInt8] {
        var output: [UInt8] = []
        var index = 0
        var rest = SecretBuilder()
        waiting.withExposedBytes { bytes in
            while index < bytes.count {
                var found = mask.beginning(at: index, of: bytes)
                if isEnd && found.isMostlyThere { found.whole = bytes.count - index }
                if found.whole > 0 {
                    // One that overlaps another is replaced together with it.
                    if index >= replacedCount {
                        output += Self.replacement
                        endsReplaced = true
                    }
                    replacedCount = max(replacedCount, index + found.whole)
                }
                if found.isOpen && !isEnd { break }
                if index >= max(replacedCount, shownCount) {
                    output.append(bytes[index])
                    endsReplaced = false
                } else if index >= shownCount && !endsReplaced {
                    // Between two parts that are shown: put together, they could be another secret.
                    output += Self.replacement
                    endsReplaced = true
                }
                index += 1
            }
            try? rest.append(bytes.extracting(index..<bytes.count))
        }
        waiting = rest
        replacedCount = max(0, replacedCount - index)
        shownCount = max(0, shownCount - index)
        return output
    }
}
