/// `latchkey helper askpass QUESTION`, also as `latchkey-askpass`: SSH_ASKPASS of ssh(1). It answers only the
/// question for a key's passphrase, because a server chooses the words of other questions.
enum AskpassHelper {
    /// The account of a key's passphrase; its service is `ssh:PATH`.
    private static let account = "passphrase"

    static let command = Command(
        "helper", "askpass", summary: "answer ssh for the passphrase of a key, as latchkey-askpass",
        operands: [.required("QUESTION", help: "question of ssh or ssh-add")],
        details: """
            For SSH_ASKPASS. The passphrase of the key file PATH is stored under the service ssh:PATH, with the account passphrase. The
            helper refuses any other question, such as sudo's, with exit status 1.
            """,
        examples: ["latchkey helper askpass QUESTION"],
        calledAs: "latchkey-askpass", reportsError: reportInOneLine
    ) { arguments, context in
        // A passphrase doesn't answer a confirmation or a notice (SSH_ASKPASS_PROMPT).
        guard context.environment["SSH_ASKPASS_PROMPT"] == nil else { return .notFound }
        guard let path = keyPath(in: arguments.operand("QUESTION")) else {
            context.output.note(
                "Latchkey answers only ssh's first question for a key's passphrase, with the key's full path")
            return .notFound
        }
        let view = try await context.openView()
        guard let record = try await view.credential("ssh:" + path, account, deadline: context.deadline) else {
            let words: LogMessage = "\(CredentialName.word("ssh:" + path)) \(CredentialName.word(account))"
            context.output.note("no passphrase is stored for this key; to store it: latchkey set \(words)")
            return .notFound
        }
        var answer = SecretBuilder()
        try answer.append(record.takeSecret().withoutLineBreak())
        try answer.append(publicText: "\n")
        try context.output.write(secret: answer.finish(as: MessageBody.self))
        return .success
    }

    private static let confirming = " (will confirm each use)"

    /// The key in a question of ssh or ssh-add; the whole text has to be theirs. A question that comes
    /// again because the passphrase was wrong is another text, and isn't answered.
    private static func keyPath(in question: String) -> String? {
        let begin = "Enter passphrase for "
        guard question.hasPrefix(begin) else { return nil }
        var path = question.dropFirst(begin.count)
        while path.last == " " || path.last == ":" { path.removeLast() }
        // Of `ssh-add -c`.
        if path.hasSuffix(Self.confirming) { path = path.dropLast(Self.confirming.count) }
        if path.hasPrefix("key ") { path = path.dropFirst(4) }
        for quote in ["'", "\""] where path.hasPrefix(quote) && path.hasSuffix(quote) && path.count > 1 {
            path = path.dropFirst().dropLast()
        }
        return path.hasPrefix("/") ? String(path) : nil
    }
}
