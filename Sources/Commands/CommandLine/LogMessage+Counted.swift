package import LatchkeyLog

extension LogMessage {
    /// A number with its noun: `1 entry`, `2 entries`.
    package static func counted(_ count: some BinaryInteger, _ one: LogMessage, _ many: LogMessage) -> LogMessage {
        "\(Int(clamping: count)) \(count == 1 ? one : many)"
    }

    package static func credentials(_ count: some BinaryInteger) -> LogMessage {
        counted(count, "credential", "credentials")
    }
}
