/// A clock to wait by: the system's, or one that a test turns.
public struct PollClock: Sendable {
    /// Time since some moment that stays the same.
    public let now: @Sendable () -> Duration
    /// Returns after the time, or throws when the task is cancelled.
    public let sleep: @Sendable (Duration) async throws -> Void

    public init(
        now: @escaping @Sendable () -> Duration, sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        self.now = now
        self.sleep = sleep
    }

    private static let start = ContinuousClock.now

    /// The system's, which goes on while the machine sleeps.
    public static let continuous = PollClock(
        now: { start.duration(to: .now) }, sleep: { try await Task.sleep(for: $0, clock: .continuous) })
}
