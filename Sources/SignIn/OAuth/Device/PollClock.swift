/// A clock to wait by: the system's, or one that a test turns.
package struct PollClock: Sendable {
    /// Time since some moment that stays the same.
    package let now: @Sendable () -> Duration
    /// Returns after the time, or throws when the task is cancelled.
    package let sleep: @Sendable (Duration) async throws -> Void

    package init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    private static let start = ContinuousClock.now

    /// The system's, which goes on while the machine sleeps.
    package static let continuous = PollClock(
        now: { start.duration(to: .now) }, sleep: { try await Task.sleep(for: $0, clock: .continuous) })
}
