public import LatchkeyLog

/// Looks up TXT records in the DNS (RFC 1035 section 3.3.14).
public protocol TextRecordLookup: Sendable {
    /// Returns the texts of a name, each record's pieces joined; none when there is no such name or no such record.
    ///
    /// Throws when the DNS gave no response.
    func texts(of name: String) async throws(NameLookupError) -> [String]
}

/// Why the DNS gave no response.
public struct NameLookupError: RedactedError, Hashable {
    /// Why there is none. A name without records is no error: its list of texts is empty.
    public enum Code: Sendable, Hashable, CaseIterable {
        /// No name server responded, or one that responded could not tell.
        case tryAgain
        /// The resolver can't be used, or refuses the name.
        case failed
        /// The response can't be understood, or is too large.
        case malformedResponse
        /// The task was cancelled.
        case cancelled
    }

    /// What a program decides by.
    public let code: Code

    /// For a ``TextRecordLookup`` of the caller's own to throw.
    public init(_ code: Code) {
        self.code = code
    }

    public var explanation: Explanation {
        switch code {
        case .tryAgain:
            .init(.tryAgain, "dns.try-again", "no name server responded", hint: "check the network, then try again")
        case .failed: .init(.unavailable, "dns.failed", "the name can't be looked up")
        case .malformedResponse:
            .init(.protocolError, "dns.malformed-answer", "the name server's response is malformed")
        case .cancelled: .init(.interrupted, "dns.cancelled", "the lookup was cancelled")
        }
    }
}
