public import LatchkeySecrets

// Numbers, durations and truth values are measurements of ours; a secret is never held as one.

extension Int: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Int32: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Int64: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt16: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt32: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension UInt64: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Double: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }
extension Bool: Loggable { public var logMessage: LogMessage { self ? "true" : "false" } }

extension Duration: Loggable {
    /// Seconds with three decimals, such as `1.250 s`.
    public var logMessage: LogMessage {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let fraction = String(abs(milliseconds % 1000))
        let padding = String(repeating: "0", count: 3 - fraction.count)
        let sign = milliseconds < 0 ? "-" : ""
        return LogMessage(verbatim: "\(sign)\(abs(milliseconds / 1000)).\(padding)\(fraction) s")
    }
}

// Safe: the text of a StaticString stands in the source.
extension StaticString: Loggable { public var logMessage: LogMessage { LogMessage(verbatim: description) } }

// Safe: says how memory is kept, not what is in it.
extension MemoryProtection: Loggable {
    package var logMessage: LogMessage {
        switch self {
        case .locked: "locked"
        case .unlocked: "not locked"
        }
    }
}

// Safe: an errno.
extension RandomSourceError: Loggable {
    public var logMessage: LogMessage { "the kernel refused random octets (errno \(number))" }
}
