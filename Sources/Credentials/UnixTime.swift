internal import Glibc
public import RedactedLog

/// A moment in whole seconds since 1970-01-01T00:00:00Z.
public struct UnixTime: Sendable, Hashable, Comparable, Loggable {
    public let seconds: Int64

    public init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The system's clock (time(2)).
    public static func now() -> UnixTime { UnixTime(seconds: Int64(time(nil))) }

    public static func < (left: UnixTime, right: UnixTime) -> Bool { left.seconds < right.seconds }

    /// Safe: a moment.
    public var logMessage: LogMessage { "\(seconds)" }
}
