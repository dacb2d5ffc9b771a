import LatchkeyOAuth
import LatchkeySecrets
import Synchronization

/// The kernel's generator, but for one call that fails with error number 5.
final class RandomCalls: Sendable {
    private let left: Mutex<Int>

    /// - Parameter failing: which call fails, counted from 1.
    init(failing: Int) {
        left = Mutex(failing)
    }

    var source: RandomSource {
        RandomSource { [self] (span) throws(RandomSourceError) in
            let call = left.withLock { left in
                left -= 1
                return left
            }
            if call == 0 { throw RandomSourceError(number: 5) }
            for index in span.indices { span[index] = UInt8.random(in: 0...255) }
        }
    }
}
