internal import LatchkeyCredentials
internal import LatchkeyDBus
package import LatchkeyKeyringService
package import LatchkeyLog

/// Who read what, for the log (`--log-level info`): information, not a gate.
struct ReadLog: ReadObserver {
    let logger: RedactedLogger

    func didRead(_ item: Item, by client: KeyringClient) {
        let label = LoggableText(reviewed: "labels are what keyring applications show", unredacted: item.label)
        logger.info("\(label) was read by \(client)")
    }
}

extension KeyringClient: Loggable {
    /// Safe: a program, its unit and its process, which anybody on the machine can see.
    package var logMessage: LogMessage { named(unit ?? executable ?? uniqueName, processID) }
}

extension BusNameOwner: Loggable {
    /// Safe, as a client is.
    package var logMessage: LogMessage { named(executable ?? uniqueName, processID) }
}

/// A program with its process.
func named(_ name: String, _ processID: UInt32?) -> LogMessage {
    let name = LoggableText(reviewed: "the unit or path of a program, as any listing shows it", unredacted: name)
    return processID.map { "\(name) (process \(Int($0)))" } ?? "\(name)"
}
