package import LatchkeyLog
internal import LatchkeySecrets

extension SecretPrompt {
    /// Asks a question that `y` or `yes` consents to; every other answer doesn't.
    ///
    /// - Parameter isShown: whether the answer is seen as it is typed.
    package func confirm(_ question: LogMessage, isShown: Bool = true) throws(PromptError) -> Bool {
        // No secret, and not to be noticed as one.
        let answer = try ask("\(question) [y/N]", as: MessageBody.self, limit: 64, isShown: isShown)
        return ["y", "Y", "yes", "Yes", "YES"].contains { answer.matches($0.utf8.span) }
    }
}
