internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeySystem
internal import LatchkeyCommandLine
internal import Synchronization

/// The terminal of the person who runs the command, for signing in by paste.
struct PersonsTerminal: PromptTerminal {
    let prompt: SecretPrompt

    func show(_ line: LogMessage) async throws(PromptTerminalError) {
        try mapError(PromptTerminalError.init, of: prompt.show(line))
    }

    func show(_ url: borrowing AuthorizationURL) async throws(PromptTerminalError) {
        try mappingError(PromptTerminalError.init) { () throws(PromptError) in
            var screen = try prompt.screen()
            try url.pour(into: &screen)
        }
    }

    func ask(
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
