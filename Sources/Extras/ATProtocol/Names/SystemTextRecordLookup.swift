internal import CLatchkeyResolver
internal import Glibc
internal import LatchkeySystem
internal import Synchronization

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
        let question = Question(name: name, server: server)
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { question.send($0) }
        } onCancel: {
            question.give(.failure(NameLookupError(.cancelled)))
        }
        guard let message = try outcome.get() else { return [] }
        return try TextRecordResponse(message, about: name).texts
    }

    private typealias Outcome = Result<[UInt8]?, NameLookupError>

    /// One question, and whoever waits for its response.
    private final class Question: Sendable {
        private let name: String
        private let server: (address: String, port: UInt16)?
        private let state = Mutex(State())

        private struct State {
            var waiting: CheckedContinuation<Outcome, Never>?
            var early: Outcome?
            var isDone = false
        }

        init(name: String, server: (address: String, port: UInt16)?) {
            self.name = name
            self.server = server
        }

        func send(_ waiting: CheckedContinuation<Outcome, Never>) {
            let early = state.withLock { state -> Outcome? in
                if state.early == nil { state.waiting = waiting }
                return state.early
            }
            if let early { return waiting.resume(returning: early) }
            if failure(SystemErrorNumber.self, of: try SystemThread.detach { self.give(self.resolve()) }) != nil {
                give(.failure(NameLookupError(.failed)))
            }
        }

        /// The first outcome counts.
        func give(_ outcome: Outcome) {
            let waiting = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
                guard !state.isDone else { return nil }
                state.isDone = true
                if state.waiting == nil { state.early = outcome }
                return state.waiting.take()
            }
            waiting?.resume(returning: outcome)
        }

        private func resolve() -> Outcome {
            var message = [UInt8](repeating: 0, count: TextRecordResponse.maximumByteCount)
            let count = unsafe message.withUnsafeMutableBufferPointer { buffer in
                unsafe latchkey_resolve_text(
                    name, server?.address, server?.port ?? 0, SystemTextRecordLookup.secondsPerTry,
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
}
