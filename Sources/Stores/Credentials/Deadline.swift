public import LatchkeyLog

/// The moment at which an operation gives up with ``StoreError/Code/timedOut``.
public struct Deadline: Sendable, Hashable, Loggable {
    package let instant: ContinuousClock.Instant

    package init(_ instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    /// The given time from now.
    public static func after(_ duration: Duration) -> Deadline { Deadline(.now + duration) }

    /// 30 seconds from now: what every operation uses unless told otherwise.
    public static var standard: Deadline { .after(.seconds(30)) }

    /// What is left, never negative.
    public var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: instant)) }

    package var hasPassed: Bool { ContinuousClock.now >= instant }

    /// Safe: a duration.
    public var logMessage: LogMessage { "\(remaining) left" }
}
