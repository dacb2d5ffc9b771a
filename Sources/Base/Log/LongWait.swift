internal import Synchronization

/// A wait that a person should know about, such as the wait for another process. After one second a listener learns the
/// reason. The listener also learns when the wait ends.
package struct LongWait {
    /// Gets the reason, or `nil` at the end of the wait.
    package typealias Listener = @Sendable (LogMessage?) -> Void

    private static let listener = Mutex<Listener?>(nil)

    private var start: ContinuousClock.Instant?
    private var isKnown = false

    package init() {}

    /// Calls `body` from then on, for the waits of all threads.
    package static func listen(_ body: @escaping Listener) { listener.withLock { $0 = body } }

    /// Tells the listener once, a second after the first call. To be called again and again during the wait.
    package mutating func goesOn(_ reason: @autoclosure () -> LogMessage) {
        guard !isKnown else { return }
        let now = ContinuousClock.now
        guard let start else {
            start = now
            return
        }
        guard now - start >= .seconds(1) else { return }
        isKnown = true
        Self.tell(reason())
    }

    /// Tells the listener that the wait is over, if the listener knows of it.
    package func end() {
        if isKnown { Self.tell(nil) }
    }

    private static func tell(_ reason: LogMessage?) { listener.withLock { $0 }?(reason) }
}
