public import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeyOAuth
public import LatchkeySecrets

/// The terminal of a person who signs in without a browser on this machine.
public protocol PromptTerminal: Sendable {
    /// Writes a line.
    ///
    /// Throws ``PromptTerminalError/unavailable`` if there is no terminal.
    func show(_ line: LogMessage) async throws(PromptTerminalError)

    /// Writes the authorization URL on a separate line. `state` is shown here on purpose, because the user has to carry
    /// it to a browser. Only the user's terminal may get it.
    ///
    /// Throws ``PromptTerminalError/unavailable`` if there is no terminal.
    func show(_ url: borrowing AuthorizationURL) async throws(PromptTerminalError)

    /// Asks a question and returns the line that the user enters, without echo and without its line break.
    ///
    /// A paste may be longer than the 4,096 bytes that a terminal accepts in canonical mode. Throws at the deadline and
    /// if the task is cancelled, and restores the terminal.
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
    /// Shows the code and address. Throws `.unavailable` if they can't be shown to the user.
    func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError)

    /// Shows the outcome, and stops anything that `show` began. Calling it again has no effect.
    func finish(_ outcome: SignInOutcome) async
}
