public import Latchkey

/// The app under test: it asks a service for something with the person's token.
public struct Inbox: Sendable {
    /// What the app shows.
    public enum State: Sendable, Hashable { case ready, signedOut, tryAgainLater }

    private let service: SignInService
    private let address: String
    private let log: RedactedLogger

    public init(service: SignInService, address: String, log: RedactedLogger) {
        self.service = service
        self.address = address
        self.log = log
    }

    /// Signs in if no account is signed in, and asks the service.
    public func open(presenting agent: UserAgent) async -> State {
        do {
            if try await service.currentAccount() == nil { _ = try await service.signIn(presenting: agent) }
            let response = try await service.send(GuardedRequest(.get, HTTPURL(address)))
            log.info("the service answered with status \(response.status)")
            return response.isSuccess ? .ready : .tryAgainLater
        } catch {
            // Each says what happened and what helps, without a token or a word of the server's.
            if let error = error as? SignInError { log.warning("no messages: \(error)") }
            let session = try? await service.currentAccount()
            return session == nil ? .signedOut : .tryAgainLater
        }
    }
}
