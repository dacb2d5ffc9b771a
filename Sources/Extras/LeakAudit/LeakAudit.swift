internal import Glibc
public import LatchkeyLog
internal import Synchronization

/// Searches what a run emitted for the secrets it handled.
///
///     let audit = LeakAudit()
///     let token = try audit.plantRandom(AccessToken.self)
///     let log = audit.logSink(named: "log")
///     …                                       // a run that uses the token and logs to the sink
///     audit.capture(standardError, as: "standard error")
///     try audit.report().check()
///
/// The audit searches for each secret verbatim and in every ``LeakEncoding``, whole and in pieces of eight bytes or more
/// (sixteen if the secret is hexadecimal). The report contains the place of each finding, never its text. The audit works
/// with any test library, and with many tasks at once. Secrets stay in guarded memory; the search wipes their encodings.
public final class LeakAudit: Sendable {
    /// Marks secrets that an audit keeps.
    enum Planted: SecretPurpose { static var name: StaticString { "planted secret" } }

    private struct Canary {
        let purpose: String
        let secret: Box<Secret<Planted>>
    }

    private struct Stream {
        let name: String
        let bytes: [UInt8]
        let allowed: AllowedLeak?
    }

    private struct State {
        var canaries: [Canary] = []
        var streams: [Stream] = []
        var sinks: [AuditLogSink] = []
    }

    private let state = Mutex(State())
    private let knownForms: Set<KnownForm>

    /// Starts with nothing planted and nothing captured.
    ///
    /// - Parameter knownForms: the forms of tokens that are findings although they weren't planted.
    public init(knownForms: Set<KnownForm> = Set(KnownForm.allCases)) {
        self.knownForms = knownForms
    }

    // MARK: - Secrets

    /// The least length of a planted secret in bytes: shorter ones occur in ordinary text.
    public static let minimumByteCount = 8

    /// An error: a secret has fewer than ``minimumByteCount`` bytes.
    public struct CanaryTooShort: Error, Sendable, Hashable {
        /// The name of the secret's purpose, such as `access token`.
        public let purpose: String
        /// How many bytes it has; ``LeakAudit/minimumByteCount`` are needed.
        public let byteCount: Int
    }

    /// Searches for this secret. Planting the same one twice does no harm.
    ///
    /// Throws for a secret of fewer than ``minimumByteCount`` bytes.
    public func plant<Purpose: SecretPurpose>(_ secret: borrowing Secret<Purpose>) throws(CanaryTooShort) {
        let purpose = Purpose.name.description
        guard secret.byteCount >= Self.minimumByteCount else {
            throw CanaryTooShort(purpose: purpose, byteCount: secret.byteCount)
        }
        let canary = Canary(purpose: purpose, secret: Box(secret.duplicate(as: Planted.self)))
        state.withLock { state in
            let isKnown = state.canaries.contains {
                $0.purpose == purpose && $0.secret.value.matches(canary.secret.value)
            }
            if !isKnown { state.canaries.append(canary) }
        }
    }

    /// Makes a random secret of 43 base64url characters, plants it and returns it.
    ///
    /// Throws when the kernel gives no random octets.
    public func plantRandom<Purpose: SecretPurpose>(
        _ purpose: Purpose.Type
    ) throws(RandomSourceError) -> Secret<Purpose> {
        let secret = try Secret<Purpose>.random(byteCount: 32).base64URLEncoded()
        // 43 characters are never too short.
        try? plant(secret)
        return secret
    }

    // MARK: - Output

    /// Searches these bytes.
    ///
    /// - Parameters:
    ///   - bytes: what was emitted.
    ///   - stream: the name that the report gives it.
    ///   - allowed: what this one stream may show.
    public func capture(_ bytes: [UInt8], as stream: String, allowing allowed: AllowedLeak? = nil) {
        state.withLock { $0.streams.append(Stream(name: stream, bytes: bytes, allowed: allowed)) }
    }

    /// Searches this text.
    public func capture(_ text: String, as stream: String, allowing allowed: AllowedLeak? = nil) {
        capture(Array(text.utf8), as: stream, allowing: allowed)
    }

    /// Searches an error's text in `print`, `String(reflecting:)` and `dump`, and its text for a person.
    ///
    ///     audit.capture(error: error, as: "the error", localized: error.localizedDescription)
    ///
    /// - Parameters:
    ///   - error: the error.
    ///   - stream: the name that the report gives it.
    ///   - localized: Foundation's `localizedDescription`, because this module doesn't import Foundation.
    public func capture(error: any Error, as stream: String, localized: String? = nil) {
        capture(value: error, as: stream)
        if let localized { capture(localized, as: "\(stream), localized") }
    }

    /// Searches any value as `print`, `String(reflecting:)` and `dump` show it.
    public func capture(value: Any, as stream: String) {
        capture(String(describing: value), as: "\(stream), described")
        capture(String(reflecting: value), as: "\(stream), reflected")
        var dumped = ""
        dump(value, to: &dumped)
        capture(dumped, as: "\(stream), dumped")
    }

    /// Searches log records: category, message and fields.
    public func capture(log records: [LogEntry], as stream: String) {
        capture(records.map(AuditLogSink.line).joined(), as: stream)
    }

    /// Returns a sink that passes its records on. The report searches the records.
    public func logSink(named stream: String, forwardingTo next: (any LogSink)? = nil) -> some LogSink {
        let sink = AuditLogSink(name: stream, next: next)
        state.withLock { $0.sinks.append(sink) }
        return sink
    }

    // MARK: - Report

    /// Searches all that was captured so far for all that was planted so far.
    public func report() -> LeakReport {
        let (canaries, captured, sinks) = state.withLock { ($0.canaries, $0.streams, $0.sinks) }
        let streams = captured + sinks.map { Stream(name: $0.name, bytes: $0.bytes, allowed: nil) }
        var forms: [EncodedForm] = []
        for (number, canary) in canaries.enumerated() {
            forms += canary.secret.value.withExposedBytes { EncodedForm.all(of: $0, canary: number) }
        }
        let index = FormIndex(forms)
        forms = []
        var findings: [LeakFinding] = []
        var allowed: [LeakFinding] = []
        for stream in streams {
            for match in FormMatch.all(of: index, in: stream.bytes) {
                let purpose = canaries[index.forms[match.form].canary].purpose
                let finding = LeakFinding(
                    purpose: purpose, stream: stream.name, offset: match.range.lowerBound,
                    encoding: match.encoding, byteCount: match.range.count, isWhole: match.isWhole)
                let isAllowed = stream.allowed?.permits(
                    purpose: purpose, encoding: match.encoding, before: stream.bytes[..<match.range.lowerBound])
                if isAllowed == true { allowed.append(finding) } else { findings.append(finding) }
            }
            for match in KnownFormSearch.standard.all(in: stream.bytes) where knownForms.contains(match.form) {
                findings.append(
                    LeakFinding(
                        purpose: match.form.name.description, stream: stream.name, offset: match.range.lowerBound,
                        encoding: .plain, byteCount: match.range.count, isWhole: true))
            }
        }
        return LeakReport(
            findings: findings, allowed: allowed, canaryCount: canaries.count, streamCount: streams.count,
            byteCount: streams.reduce(0) { $0 + $1.bytes.count })
    }
}

/// An error: a part of the input couldn't be read. `number` is the system's errno.
public struct CaptureFailed: Error, Sendable, Hashable {
    /// The file, folder or descriptor.
    public let path: String
    /// The system's errno.
    public let number: Int32
}

extension LeakAudit {
    /// Searches every regular file below a folder, and the files' names. Doesn't follow links.
    ///
    /// Throws if any file can't be read, because a part that wasn't searched isn't clean.
    public func capture(folder path: String) throws(CaptureFailed) {
        var names = ""
        var folders = [path]
        while let folder = folders.popLast() {
            for name in try Self.reading(folder, FileSystem.names(in: folder)).sorted() {
                let entry = folder + "/" + name
                names += entry + "\n"
                let status = try Self.reading(entry, FileStatus.ofLink(at: entry))
                if status.isDirectory { folders.append(entry) }
                if status.isRegularFile { try capture(file: entry) }
            }
        }
        capture(names, as: "names of files in \(path)")
    }

    /// Searches one file.
    ///
    /// Throws when it can't be read, and for a link.
    public func capture(file path: String) throws(CaptureFailed) {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw CaptureFailed(path: path, number: errno) }
        defer { close(descriptor) }
        capture(try Self.reading(path, DescriptorBytes.all(of: descriptor, limit: .max)), as: path)
    }

    /// Searches the arguments and the environment at the start of a running process (proc(5)).
    ///
    /// Throws if the process doesn't exist or belongs to another user.
    public func capture(process number: Int32) throws(CaptureFailed) {
        for part in ["cmdline", "environ"] { try capture(file: "/proc/\(number)/\(part)") }
    }

    private static func reading<Value>(
        _ path: String, _ value: @autoclosure () throws(SystemErrorNumber) -> Value
    ) throws(CaptureFailed) -> Value {
        try mappingError({ (error: SystemErrorNumber) in CaptureFailed(path: path, number: error.number) }, value)
    }
}

/// Keeps what is logged for the audit, and passes it on.
final class AuditLogSink: LogSink {
    let name: String
    private let next: (any LogSink)?
    private let kept = Mutex<[UInt8]>([])

    init(name: String, next: (any LogSink)?) {
        self.name = name
        self.next = next
    }

    func write(_ record: LogEntry) {
        let line = Self.line(record)
        kept.withLock { $0 += Array(line.utf8) }
        next?.write(record)
    }

    /// Everything of a record that a sink could show.
    static func line(_ record: LogEntry) -> String {
        let fields = record.fields.map { " \($0.name)=\($0.value.text)" }.joined()
        return "\(record.level.name) \(record.category.name): \(record.message.text)\(fields)\n"
    }

    var bytes: [UInt8] { kept.withLock { $0 } }
}
