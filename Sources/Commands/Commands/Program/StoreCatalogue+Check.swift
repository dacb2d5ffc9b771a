internal import LatchkeyLog
internal import LatchkeyStoreSelection
internal import LatchkeyCommandLine

extension StoreCatalogue {
    /// Throws when an option names no store that there is. What was typed isn't repeated: it may be a secret gone
    /// astray.
    ///
    /// - Parameter otherwise: what else the option takes.
    func check(_ name: String, namedBy option: LogMessage, otherwise: LogMessage? = nil) throws(CommandFailure) {
        if self[name] != nil { return }
        let names = backends.filter(\.isPersistent).map(\.name)
        let all: LogMessage = "the stores are \(LogMessage.joined(names.map { "\($0)" }))"
        let list = otherwise.map { "\(all); \($0)" as LogMessage } ?? all
        let hint = Suggestion.nearest(to: name, in: names).map { "did you mean \($0)? \(list)" as LogMessage } ?? list
        throw CommandFailure(.usage, "selection.unknown-store", "\(option) names no store", hint: hint)
    }
}
