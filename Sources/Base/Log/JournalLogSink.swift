internal import CLatchkeyLinux
internal import Glibc

/// An error: no journal listens at the socket's path. `number` is the errno of connect(2).
public struct JournalUnavailable: RedactedError, Hashable {
    package let number: Int32

    public var explanation: Explanation {
        .init(
            .unavailable, "log.no-journal", "can't open the systemd journal: \(SystemErrorNumber(number))",
            hint: "choose another log format, or start systemd-journald")
    }
}

/// Sends records with their fields to systemd's journal, in its native protocol over its datagram socket.
///
/// A record has the fields `MESSAGE`, `PRIORITY` (syslog's number), `SYSLOG_IDENTIFIER`, `LATCHKEY_CATEGORY` and
/// `LATCHKEY_LEVEL`, and one for each ``LogField``: `sign_in` becomes `LATCHKEY_SIGN_IN`. A record that is too large
/// for a datagram is sent as a sealed file in memory. The sink never waits: if the journal is busy or gone, the sink
/// drops and counts records, and sends the count before the next record.
public final class JournalLogSink: LogSink {
    /// Where the journal listens (systemd-journald.service(8)).
    package static let standardSocketPath = "/run/systemd/journal/socket"

    /// The size of a datagram that every kernel supports, in bytes. Larger entries are sent as files.
    static let maximumDatagramByteCount = 131_072

    private let path: String
    private let identifier: StaticString
    private let fieldPrefix: StaticString
    private let descriptor: Int32
    private let lost: LostRecords

    /// Throws if the journal doesn't exist, as in a container or on a system without systemd.
    ///
    /// - Parameters:
    ///   - socketPath: the journal's socket (default: systemd's path).
    ///   - identifier: the program's name, for `journalctl -t`.
    ///   - fieldPrefix: the prefix of the fields' names: a letter, then upper-case letters, digits and underscores.
    ///   - trouble: called once, when the first record is lost.
    public init(
        socketPath: String? = nil, identifier: StaticString = "latchkey",
        fieldPrefix: StaticString = "LATCHKEY_", reporting trouble: (@Sendable (LogTrouble) -> Void)? = nil
    ) throws(JournalUnavailable) {
        let place = socketPath ?? Self.standardSocketPath
        let number = unsafe latchkey_datagram_probe(place)
        guard number == 0 else { throw JournalUnavailable(number: number) }
        descriptor = latchkey_datagram_socket()
        guard descriptor >= 0 else { throw JournalUnavailable(number: errno) }
        path = place
        self.identifier = identifier
        self.fieldPrefix = fieldPrefix
        lost = LostRecords(report: trouble)
    }

    deinit {
        close(descriptor)
    }

    /// The number of lost records since the last delivered one.
    package var lostRecordCount: Int { lost.count }

    public func write(_ record: LogEntry) {
        let count = lost.count
        if let note = lost.note(before: record) {
            if let number = send(note) { return lost.report(lost.add(number: number)) }
            lost.forget(count)
        }
        if let number = send(record) { lost.report(lost.add(number: number)) }
    }

    /// Returns the errno of a failure, or `nil`.
    private func send(_ record: LogEntry) -> Int32? {
        let entry = JournalEntry(record, identifier: identifier, fieldPrefix: fieldPrefix).bytes
        return unsafe entry.withUnsafeBytes { entry in
            if entry.count <= Self.maximumDatagramByteCount {
                let number = unsafe latchkey_datagram_send(descriptor, path, entry.baseAddress, entry.count, -1)
                if number == 0 { return nil }
                guard number == EMSGSIZE || number == ENOBUFS else { return number }
            }
            let file = unsafe latchkey_sealed_file("journal-entry", entry.baseAddress, entry.count)
            guard file >= 0 else { return errno }
            defer { close(file) }
            let second = unsafe latchkey_datagram_send(descriptor, path, nil, 0, file)
            return second == 0 ? nil : second
        }
    }
}

/// One entry in the journal's native protocol: `NAME=value` a line, or, for a value with line breaks, the name's line,
/// the value's length as eight bytes, low first, and the value.
struct JournalEntry {
    private(set) var bytes: [UInt8] = []

    init(_ record: LogEntry, identifier: StaticString, fieldPrefix: StaticString) {
        add("MESSAGE", record.message.text)
        add("PRIORITY", "\(record.level.syslogPriority)")
        add("SYSLOG_IDENTIFIER", identifier.description)
        add("\(fieldPrefix)CATEGORY", record.category.name)
        add("\(fieldPrefix)LEVEL", record.level.name.description)
        for field in record.fields { add(Self.name(field.name, prefix: fieldPrefix.description), field.value.text) }
    }

    private mutating func add(_ name: String, _ value: String) {
        let value = Array(InertText.bounded(value, to: LogLineFormat.maximumMessageByteCount).utf8)
        bytes += Array(name.utf8)
        if value.contains(0x0A) {
            bytes.append(0x0A)
            for byte in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: value.count >> (8 * byte))) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
        bytes.append(0x0A)
    }

    /// The journal takes upper-case letters, digits and underscores, 64 in all.
    private static func name(_ name: String, prefix: String) -> String {
        let letters = name.uppercased().unicodeScalars.map { scalar -> Character in
            switch scalar {
            case "A"..."Z", "0"..."9": Character(scalar)
            default: "_"
            }
        }
        return String((prefix + String(letters)).prefix(64))
    }
}
