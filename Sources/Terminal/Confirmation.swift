package import LatchkeyLog
internal import LatchkeySecrets

extension SecretPrompt {
    /// Asks a question that `y` or `yes` consents to; every other answer doesn't.
    package func confirm(_ question: LogMessage) throws(PromptError) -> Bool {
        // No secret, and not to be noticed as one.
        let answer = try ask("\(question) [y/N]", as: MessageBody.self, limit: 64, isShown: true)
        return ["y", "Y", "yes", "Yes", "YES"].contains { answer.matches($0.utf8.span) }
    }
}
