internal import LatchkeySecrets

extension PassphraseCost {
    /// How long one try is to take on the machine that makes the slot: nothing beside typing, and much for a guesser.
    static let aim = Duration.milliseconds(750)

    /// The least that a calibrated cost is, however slow or small the machine: 64 MiB and 3 passes (as much memory and
    /// as many passes as RFC 9106 section 4 recommends where memory is short).
    public static let least = PassphraseCost(known: 64 << 20, passes: 3)

    /// The most memory that a calibrated cost takes: the vault may be opened on a smaller machine one day.
    private static let largestMemoryByteCount = 256 << 20

    /// Returns what one try may cost on this machine: as many passes as fit into about 0.75 s, 3 to 16, over 256 MiB.
    ///
    /// It is less memory, 64 MiB at least, where three passes take more than 1.5 s, or where 256 MiB are more than a
    /// quarter of the memory that the machine has or its container or service may take. The measuring itself takes a
    /// pass, some tenths of a second, on the calling thread.
    package static func calibrated() -> PassphraseCost {
        calibrated(allowance: MemoryAllowance.byteCount(), timeOfPass: time(ofPassOver:))
    }

    /// - Parameters:
    ///   - allowance: how much memory there is, in bytes.
    ///   - timeOfPass: how long a pass over so many bytes takes; `nil` when that memory can't be had.
    static func calibrated(allowance: Int, timeOfPass: (_ memoryByteCount: Int) -> Duration?) -> PassphraseCost {
        var memory = largestMemoryByteCount
        while memory > least.memoryByteCount {
            if memory <= allowance / 4, let time = timeOfPass(memory), time * least.passes <= aim * 2 {
                return PassphraseCost(known: memory, passes: passes(of: time))
            }
            memory /= 2
        }
        guard let time = timeOfPass(memory) else { return least }
        return PassphraseCost(known: memory, passes: passes(of: time))
    }

    private static func passes(of time: Duration) -> Int {
        guard time > .zero else { return maximumPasses }
        // Bounded before it becomes an integer.
        return Int(min(max(aim / time, Double(least.passes)), Double(maximumPasses)))
    }

    /// A single pass pays for mapping the memory in, so that several take a little less than as many times as long.
    private static func time(ofPassOver memoryByteCount: Int) -> Duration? {
        let nothing: [UInt8] = []
        let salt = [UInt8](repeating: 0, count: Argon2id.saltByteCount)
        var out = [UInt8](repeating: 0, count: 32)
        var isDerived = false
        let time = ContinuousClock().measure {
            var span = out.mutableSpan
            isDerived = Argon2id.derive(
                passphrase: nothing.span, salt: salt.span, passes: 1, memoryByteCount: memoryByteCount, into: &span)
        }
        return isDerived ? time : nil
    }
}
