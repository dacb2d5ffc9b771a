internal import LatchkeySystem
internal import Synchronization

/// Tells one listener of each secret as it is made, so that what watches over a program's output need not be told of
/// each by hand. Nothing listens unless a program asks for it.
package enum SecretNotice {
    /// The purpose's type, and the bytes, lent.
    package typealias Listener = @Sendable (ObjectIdentifier, Span<UInt8>) -> Void

    private static let isHeard = Atomic(false)
    /// In a box: a closure in a `Mutex` itself is wrapped once more at each look, and grows slower with every secret.
    private static let listener = Mutex<Box<Listener>?>(nil)

    /// From now on `body` is told of each secret that is made, before whoever makes it has it. It must make none
    /// itself.
    package static func listen(_ body: @escaping Listener) {
        listener.withLock { $0 = Box(body) }
        isHeard.store(true, ordering: .releasing)
    }

    /// Nobody is told any more.
    package static func stop() {
        isHeard.store(false, ordering: .releasing)
        listener.withLock { $0 = nil }
    }

    static func tell<Purpose: SecretPurpose>(of secret: borrowing Secret<Purpose>) {
        guard isHeard.load(ordering: .acquiring), let listener = listener.withLock({ $0 }) else { return }
        secret.withExposedBytes { listener.value(ObjectIdentifier(Purpose.self), $0) }
    }
}
