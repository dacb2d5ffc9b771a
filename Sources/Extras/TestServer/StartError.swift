public import LatchkeyLog
internal import LatchkeyLoopback

extension LoopbackAuthorizationServer {
    /// Why a server can't start: its port is in use, the machine has no such address, or key and certificate don't fit.
    public struct StartError: RedactedError, Hashable {
        let error: LoopbackError

        init(_ error: LoopbackError) { self.error = error }

        public var codeName: StaticString { error.codeName }
        public var cause: LogMessage { error.cause }
        public var hint: LogMessage? { error.hint }
    }
}
