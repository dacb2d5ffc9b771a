public import LatchkeyCredentials
public import LatchkeyLog
public import LatchkeyOAuth
package import LatchkeyProcess
internal import Synchronization

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
    /// A paste may be longer than the 4,096 bytes that a terminal accepts in canonical mode. Throws `.unavailable`,
    /// `.tooLong` for an answer of more than `limit` bytes, `.dismissed` at the end of the input, `.timedOut` at the
    /// deadline, and `.cancelled` if the task is cancelled, and restores the terminal. The sign-in ends as if dismissed
    /// after a hundred answers without the response.
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
    /// Shows the code and address, and returns at once: the sign-in asks the server only afterwards. Throws
    /// `.unavailable` if they can't be shown to the user.
    func show(_ device: borrowing DeviceAuthorization) async throws(UserAgentError)

    /// Shows the outcome, and stops anything that `show` began. Calling it again has no effect.
    func finish(_ outcome: SignInOutcome) async
}

/// The terminal of the person who runs the program, for signing in by paste.
package struct PersonsTerminal: PromptTerminal {
    private let prompt: SecretPrompt

    package init(prompt: SecretPrompt) { self.prompt = prompt }

    package func show(_ line: LogMessage) async throws(PromptTerminalError) {
        try mapError(PromptTerminalError.init, of: prompt.show(line))
    }

    package func show(_ url: borrowing AuthorizationURL) async throws(PromptTerminalError) {
        try mappingError(PromptTerminalError.init) { () throws(PromptError) in
            var screen = try prompt.screen()
            try url.pour(into: &screen)
        }
    }

    package func ask(
        _ question: LogMessage, limit: Int, deadline: Deadline
    ) async throws(PromptTerminalError) -> Secret<MessageBody> {
        let prompt = prompt
        let isCancelled = Box(Atomic(false))
        let answer = Handover<Result<Secret<MessageBody>, PromptTerminalError>>()
        await withTaskCancellationHandler {
            await BlockingWork.run {
                do throws(PromptError) {
                    let secret = try prompt.ask(question, as: MessageBody.self, limit: limit) {
                        isCancelled.value.load(ordering: .relaxed) ? .interrupted : deadline.hasPassed ? .timedOut : nil
                    }
                    answer.give(.success(secret))
                } catch {
                    answer.give(
                        .failure(isCancelled.value.load(ordering: .relaxed) ? .cancelled : PromptTerminalError(error)))
                }
            }
        } onCancel: {
            isCancelled.value.store(true, ordering: .relaxed)
        }
        guard let result = answer.take() else { throw .unavailable }
        return try result.get()
    }
}

extension PromptTerminalError {
    init(_ error: PromptError) {
        self =
            switch error.problem {
            case .forbidden, .noTerminal, .failed: .unavailable
            case .dismissed, .different: .dismissed
            case .interrupted: .cancelled
            case .tooLong: .tooLong
            case .timedOut: .timedOut
            }
    }
}
