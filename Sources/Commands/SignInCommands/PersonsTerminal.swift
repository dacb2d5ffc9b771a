internal import Glibc
internal import LatchkeyCredentials
internal import LatchkeyLog
internal import LatchkeyOAuth
internal import LatchkeySecrets
internal import LatchkeySignIn
internal import LatchkeySystem
internal import LatchkeyTerminal
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
        let isCancelled = Flag()
        let answer = Answer()
        await withTaskCancellationHandler {
            await BlockingWork.run {
                do throws(PromptError) {
                    let secret = try prompt.ask(question, as: MessageBody.self, limit: limit) {
                        isCancelled.isSet ? .interrupted : deadline.hasPassed ? .timedOut : nil
                    }
                    answer.give(secret)
                } catch {
                    answer.refuse(isCancelled.isSet ? .cancelled : PromptTerminalError(error))
                }
            }
        } onCancel: {
            isCancelled.set()
        }
        return try answer.take()
    }

    private final class Flag: Sendable {
        private let flag = Atomic<Bool>(false)
        var isSet: Bool { flag.load(ordering: .relaxed) }
        func set() { flag.store(true, ordering: .relaxed) }
    }

    /// Hands a secret from the thread that asks to the task that waits.
    private final class Answer: Sendable {
        private let secret = Mutex<Secret<MessageBody>?>(nil)
        private let error = Mutex<PromptTerminalError>(.unavailable)

        func give(_ answer: consuming Secret<MessageBody>) {
            var answer: Secret<MessageBody>? = consume answer
            secret.withLock { $0 = answer.take() }
        }

        func refuse(_ why: PromptTerminalError) { error.withLock { $0 = why } }

        func take() throws(PromptTerminalError) -> Secret<MessageBody> {
            guard let answer = secret.withLock({ $0.take() }) else { throw error.withLock { $0 } }
            return answer
        }
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
