internal import CLatchkeyResolver
internal import Glibc
public import LatchkeyLog
internal import LatchkeySystem

/// Looks up TXT records in the DNS (RFC 1035 section 3.3.14).
public protocol TextRecordLookup: Sendable {
    /// Returns the texts of a name, with each record's pieces joined; an empty list for a missing name or record.
    ///
    /// Throws without a response from the DNS.
    func texts(of name: String) async throws(NameLookupError) -> [String]
}

/// Why the DNS gave no response.
public struct NameLookupError: RedactedError, Hashable {
    /// The reason for the failure. A name without records isn't an error: its list of texts is empty.
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

    /// The code for a program's decisions.
    public let code: Code

    /// For a ``TextRecordLookup`` of the caller's own to throw.
    public init(_ code: Code) {
        self.code = code
    }

    public var explanation: Explanation {
        switch code {
        case .tryAgain:
            .init(.tryAgain, "dns.try-again", "no name server responded", hint: "check the network, then try again")
        case .failed: .init(.unavailable, "dns.failed", "can't look up the name")
        case .malformedResponse:
            .init(.protocolError, "dns.malformed-answer", "the name server's response is malformed")
        case .cancelled: .init(.interrupted, "dns.cancelled", "the lookup was cancelled")
        }
    }
}

/// Queries the name servers that the system is configured with (resolv.conf(5)), through glibc's resolver.
///
/// Each question is a thread of its own for as long as it takes, at most about 20 seconds; cancelling the task ends the
/// wait at once.
public struct SystemTextRecordLookup: TextRecordLookup {
    private let server: (address: String, port: UInt16)?

    /// Queries the system's name servers.
    public init() {
        server = nil
    }

    /// Queries one name server instead of the system's: for tests and for servers under development.
    ///
    /// - Parameters:
    ///   - address: an IPv4 address.
    ///   - port: where it listens; 53 is the standard one.
    public init(server address: String, port: UInt16) {
        server = (address, port)
    }

    private static let secondsPerTry: Int32 = 3

    public func texts(of name: String) async throws(NameLookupError) -> [String] {
        if Task.isCancelled { throw NameLookupError(.cancelled) }
        let (response, server) = (Pending<Outcome>(), server)
        let refusal = failure(
            SystemErrorNumber.self, of: try SystemThread.detach { response.complete(Self.resolve(name, server)) })
        if refusal != nil { throw NameLookupError(.failed) }
        guard let outcome = await response.valueUnlessCancelled() else { throw NameLookupError(.cancelled) }
        guard let message = try outcome.get() else { return [] }
        return try TextRecordResponse(message, about: name).texts
    }

    private typealias Outcome = Result<[UInt8]?, NameLookupError>

    private static func resolve(_ name: String, _ server: (address: String, port: UInt16)?) -> Outcome {
        var message = [UInt8](repeating: 0, count: TextRecordResponse.maximumByteCount)
        let count = unsafe message.withUnsafeMutableBufferPointer { buffer in
            unsafe latchkey_resolve_text(
                name, server?.address, server?.port ?? 0, secondsPerTry,
                buffer.baseAddress, Int32(buffer.count))
        }
        switch count {
        case LATCHKEY_NAME_ABSENT: return .success(nil)
        case LATCHKEY_NAME_TRY_AGAIN: return .failure(NameLookupError(.tryAgain))
        case 0...Int32(message.count): return .success(Array(message.prefix(Int(count))))
        default: return .failure(NameLookupError(count < 0 ? .failed : .malformedResponse))
        }
    }
}
