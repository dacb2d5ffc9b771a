/// A place where a secret, or a piece of one, must not be. The finding never contains the secret.
public struct LeakFinding: Sendable, Hashable, CustomStringConvertible {
    /// The name of the secret's purpose, such as `access token`, or of a ``KnownForm`` that was not planted.
    public let purpose: String
    /// The stream's name from its capture.
    public let stream: String
    /// The offset in the stream in bytes.
    public let offset: Int
    /// How it looks there.
    public let encoding: LeakEncoding
    /// How much of the stream it takes, in bytes.
    public let byteCount: Int
    /// Whether all of the secret is there, or a piece.
    public let isWhole: Bool

    public var description: String {
        "\(isWhole ? "the" : "a piece of the") \(purpose), \(encoding.name), \(byteCount) bytes at byte \(offset) of "
            + stream
    }
}

/// The result of an audit.
public struct LeakReport: Sendable, Hashable, CustomStringConvertible {
    /// Secrets where they must not be: empty when all is well.
    public let findings: [LeakFinding]
    /// The findings that an ``AllowedLeak`` permits.
    public let allowed: [LeakFinding]
    /// How many secrets were searched for.
    public let canaryCount: Int
    /// How many streams were searched.
    public let streamCount: Int
    /// How many bytes were searched.
    public let byteCount: Int

    /// Whether something was searched for, something was searched, and nothing was found.
    public var isClean: Bool { findings.isEmpty && canaryCount > 0 && byteCount > 0 }

    /// `0 found: 6 secrets in 12345 bytes of 4 streams`, then a line for each finding.
    public var description: String {
        var lines = ["\(findings.count) found: \(canaryCount) secrets in \(byteCount) bytes of \(streamCount) streams"]
        lines += findings.map { "found \($0)" }
        lines += allowed.map { "allowed \($0)" }
        if canaryCount == 0 { lines.append("nothing was searched for: plant the secrets") }
        if byteCount == 0 { lines.append("nothing was searched: capture the output") }
        return lines.joined(separator: "\n")
    }

    /// Throws ``LeakFailure`` unless the report is clean.
    public func check() throws(LeakFailure) {
        if !isClean { throw LeakFailure(report: self) }
    }
}

/// An audit found a secret, or audited nothing.
public struct LeakFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The whole report.
    public let report: LeakReport

    public var description: String { report.description }
}

/// The one place where a secret may be shown.
public enum AllowedLeak: Sendable, Hashable, CaseIterable {
    /// The paste user agent prints the authorization URL for a person to open, and `state` is in it as a parameter. The
    /// state is worth nothing without the code verifier, which never leaves the process.
    case stateInURLThatPastePrints

    /// Whether a match is at that place: its purpose is `state`, and it comes after `https://…?…state=`.
    func permits(purpose: String, encoding: LeakEncoding, before: ArraySlice<UInt8>) -> Bool {
        guard purpose == "state", encoding == .plain || encoding == .percentEncoded else { return false }
        let word = before.reversed().prefix { $0 > 0x20 }.reversed()
        let text = String(decoding: word, as: UTF8.self)
        return (text.hasSuffix("&state=") || text.hasSuffix("?state="))
            && (text.hasPrefix("https://") || text.hasPrefix("http://127.0.0.1:") || text.hasPrefix("http://[::1]:"))
    }
}
