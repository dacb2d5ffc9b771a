internal import LatchkeyLog

extension Duration {
    /// In the largest unit that divides it: `1 hour`, `90 minutes`, `2 days`.
    var inWords: LogMessage {
        let seconds = Int(components.seconds)
        let units: [(Int, StaticString, StaticString)] = [
            (86_400, "day", "days"), (3_600, "hour", "hours"), (60, "minute", "minutes"), (1, "second", "seconds"),
        ]
        for (unit, singular, plural) in units where seconds >= unit && seconds % unit == 0 {
            return seconds == unit ? "1 \(singular)" : "\(seconds / unit) \(plural)"
        }
        return "\(seconds) seconds"
    }
}
