internal import Glibc
public import LatchkeyLog

/// The moment at which an operation gives up with ``StoreError/Code/timedOut``.
public struct Deadline: Sendable, Hashable, Loggable {
    package let instant: ContinuousClock.Instant

    package init(_ instant: ContinuousClock.Instant) {
        self.instant = instant
    }

    /// The given time from now. A negative one has passed already; more than a hundred years count as a hundred.
    public static func after(_ duration: Duration) -> Deadline {
        let longest = Duration.seconds(3_155_760_000)
        return Deadline(.now + min(max(duration, .zero - longest), longest))
    }

    /// 30 seconds from now: what every operation uses unless told otherwise.
    public static var standard: Deadline { .after(.seconds(30)) }

    /// The remaining time, never negative.
    public var remaining: Duration { max(.zero, ContinuousClock.now.duration(to: instant)) }

    package var hasPassed: Bool { ContinuousClock.now >= instant }

    /// Safe: a duration.
    public var logMessage: LogMessage { "\(remaining) left" }
}

/// A moment in whole seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Sendable, Hashable, Comparable, Loggable {
    /// Leap seconds not counted (time(2)); negative before 1970.
    public let seconds: Int64

    /// Takes any number.
    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The system's clock (time(2)).
    public static func now() -> UnixTime { UnixTime(seconds: Int64(time(nil))) }

    /// The moment `count` seconds later, or the earliest or latest one that fits: a number from outside or from a store
    /// may have any value.
    package func advanced(bySeconds count: Int64) -> UnixTime {
        let (sum, overflows) = seconds.addingReportingOverflow(count)
        return UnixTime(seconds: overflows ? (count < 0 ? .min : .max) : sum)
    }

    /// How many seconds it is later than another moment; the most or the fewest that there are, where they don't fit.
    package func seconds(since other: UnixTime) -> Int64 {
        let (difference, overflows) = seconds.subtractingReportingOverflow(other.seconds)
        return overflows ? (seconds < other.seconds ? .min : .max) : difference
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// Safe: a moment.
    public var logMessage: LogMessage { "\(seconds)" }
}
