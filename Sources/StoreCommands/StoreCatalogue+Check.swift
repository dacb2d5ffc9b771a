internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeyTerminal

extension StoreCatalogue {
    /// Throws when an option names no store that there is. What was typed isn't repeated: it may be a secret gone
    /// astray.
    func check(_ name: String, namedBy option: LogMessage) throws(CommandFailure) {
        if self[name] != nil { return }
        let names = backends.filter(\.isPersistent).map(\.name)
        let all: LogMessage = "the stores are \(LogMessage.joined(names.map { "\($0)" }))"
        let hint = Suggestion.nearest(to: name, in: names).map { "did you mean \($0)? \(all)" as LogMessage } ?? all
        throw CommandFailure(.usage, "selection.unknown-store", "\(option) names no store", hint: hint)
    }
}
