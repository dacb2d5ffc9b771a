public import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeyOAuth
public import LatchkeySecrets

/// The terminal of a person who signs in without a browser on this machine.
public protocol PromptTerminal: Sendable {
    /// Writes a line.
    ///
    /// Throws ``PromptTerminalError/unavailable`` when there is no terminal.
    func show(_ line: LogMessage) async throws(PromptTerminalError)

    /// Writes the authorization URL on a line of its own. This is where `state` is shown on purpose: the person has to
    /// carry it to a browser. Nothing but the person's terminal may get it.
    ///
    /// Throws ``PromptTerminalError/unavailable`` when there is no terminal.
    func show(_ url: borrowing AuthorizationURL) async throws(PromptTerminalError)

    /// Asks a question and returns the line that was entered, without echo and without its line break.
    ///
    /// A paste may be longer than the 4,096 bytes that a terminal takes in canonical mode. Throws at the deadline and
    /// when the task is cancelled, and leaves the terminal as it was.
    func ask(
        _ question: LogMessage, limit: Int, deadline: Deadline
    ) async throws(PromptTerminalError) -> Secret<MessageBody>
}

/// Why a terminal gave no answer.
public enum PromptTerminalError: Error, Sendable, Hashable {
    /// There is no terminal, or questions are forbidden.
    case unavailable
    /// Ctrl-C, or the end of the input.
    case dismissed
    /// More than `limit` bytes were entered.
    case tooLong
    /// The deadline passed.
    case timedOut
    /// The task was cancelled.
    case cancelled
}

/// Shows a person the code to enter on another device, and for how long it is good (RFC 8628 section 3.3).
public protocol DevicePrompt: Sendable {
    /// Shows code and address. Throws `.unavailable` when there is nobody to show them to.
    func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError)

    /// Tells how it ended, and stops whatever `show` began. More than once has no effect.
    func finish(_ outcome: SignInOutcome) async
}
