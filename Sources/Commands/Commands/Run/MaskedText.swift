package import LatchkeySecrets

/// Replaces secrets in a text that comes in pieces.
///
/// What may be the beginning of a secret waits for what follows, in guarded memory; nothing else waits. If nothing
/// follows for a while, as after a question, up to half of the secret that it may become is shown, and never more than 16
/// characters (`showWaiting`). The rest of the secret is replaced.
package struct MaskedText: ~Copyable {
    private static let replacement = Array("***".utf8)

    private var waiting = SecretBuilder()
    /// How many of the bytes that wait are replaced already, and how many are shown.
    private var replacedCount = 0
    private var shownCount = 0
    /// Whether what was shown last stands for a secret: what is replaced goes on, where nothing was shown between.
    private var endsReplaced = false

    package init() {}

    /// Whether something waits that isn't shown yet.
    package var isWaiting: Bool { waiting.byteCount > max(replacedCount, shownCount) }

    /// Takes the next piece, and returns what can be shown.
    package mutating func take(_ piece: borrowing Secret<MessageBody>, _ mask: borrowing SecretMask) -> [UInt8] {
        // It has no limit.
        try? waiting.append(piece)
        return advance(mask, isEnd: false)
    }

    /// Returns all that waits, at the end of the text.
    package mutating func finish(_ mask: borrowing SecretMask) -> [UInt8] { advance(mask, isEnd: true) }

    /// Returns what waits, unless it is more than half of a secret.
    package mutating func showWaiting(_ mask: borrowing SecretMask) -> [UInt8] {
        let first = max(replacedCount, shownCount)
        let shown = waiting.withExposedBytes { bytes -> [UInt8] in
            for index in bytes.indices where mask.beginning(at: index, of: bytes).isMostlyThere { return [] }
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
                let found = mask.beginning(at: index, of: bytes)
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
