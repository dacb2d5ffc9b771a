/// One line of what the doctor found. Every part may be pasted into a public issue: no service, no account, no home.
struct Finding {
    enum State {
        /// As it should be.
        case good
        /// Useful information that needs no action.
        case note
        /// Wrong, with the status that the doctor ends with when it is the first one.
        case problem(ExitStatus)
    }

    let topic: StaticString
    let state: State
    let text: LogMessage
    /// The command or the action that fixes the problem.
    let remedy: LogMessage?

    static func good(_ topic: StaticString, _ text: LogMessage) -> Finding {
        Finding(topic: topic, state: .good, text: text, remedy: nil)
    }

    static func note(_ topic: StaticString, _ text: LogMessage, remedy: LogMessage? = nil) -> Finding {
        Finding(topic: topic, state: .note, text: text, remedy: remedy)
    }

    static func problem(
        _ topic: StaticString, _ status: ExitStatus, _ text: LogMessage, remedy: LogMessage
    ) -> Finding {
        Finding(topic: topic, state: .problem(status), text: text, remedy: remedy)
    }

    /// An error of a store, as a problem or only worth knowing.
    static func refusal(_ topic: StaticString, _ error: some RedactedError, matters: Bool) -> Finding {
        let text: LogMessage = "\(error.cause) [\(error.codeName)]"
        let remedy = error.hint?.remedy ?? "read the manual page: man latchkey"
        return matters
            ? .problem(topic, ExitStatus(error), text, remedy: remedy) : .note(topic, text, remedy: remedy)
    }

    var stateName: StaticString {
        switch state {
        case .good: "ok"
        case .note: "note"
        case .problem: "PROBLEM"
        }
    }

    var json: JSONOutput {
        .object([
            ("topic", .message("\(topic)")), ("state", .message("\(stateName)")), ("text", .message(text)),
            ("hint", remedy.map { .message($0) } ?? .null),
        ])
    }

    var isProblem: Bool {
        if case .problem = state { true } else { false }
    }

    /// Whether the finding isn't a problem but has an action.
    var isAdvice: Bool { !isProblem && remedy != nil }

    /// The same finding, worded as in errors, with `~` for the home directory.
    func worded(by output: TerminalOutput, home: String) -> Finding {
        let word = { (message: LogMessage) -> LogMessage in
            var text = output.words(of: message)
            if home != "/" {
                // In quotes the shell doesn't replace a tilde.
                text = text.replacing("'\(home)/", with: "~/'").replacing("\(home)/", with: "~/")
            }
            return "\(LoggableText(reviewed: "what was a log message, with a shorter path", unredacted: text))"
        }
        return Finding(topic: topic, state: state, text: word(text), remedy: remedy.map(word))
    }
}

extension LogMessage {
    /// A hint as the doctor gives it.
    var remedy: LogMessage { worded(provider: nil, diagnosis: "the other lines may say more") }
}

extension [Finding] {
    /// The status of the first problem, or success.
    var status: ExitStatus {
        for finding in self { if case .problem(let status) = finding.state { return status } }
        return .success
    }

    var table: TextTable {
        var table = TextTable("STATE", "ABOUT", "FOUND", wrapping: true)
        for finding in self {
            table.append("\(finding.stateName)", "\(finding.topic)", finding.text)
            if let remedy = finding.remedy { table.append("", "", "to fix it: \(remedy)") }
        }
        return table
    }
}

extension Finding {
    /// The findings about a store.
    init(_ finding: StoreFinding, of store: StaticString, matters: Bool) {
        let state: State =
            switch finding.state {
            case .good: .good
            case .problem(let code) where matters: .problem(ExitStatus(StoreError(code, finding.text)))
            case .note, .problem: .note
            }
        self.init(topic: store, state: state, text: finding.text, remedy: finding.remedy?.remedy)
    }
}
