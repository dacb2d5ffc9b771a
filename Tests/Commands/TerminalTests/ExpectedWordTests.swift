internal import LatchkeyLog
@testable internal import LatchkeyCommandLine
internal import Testing

/// What a shell may offer at the end of an unfinished command line.
@Suite struct ExpectedWordTests {
    private func expected(_ words: String...) -> ExpectedWord { GrammarTests.grammar.expected(after: words) }

    private func words(_ words: String...) -> [String] {
        guard case .words(let found) = GrammarTests.grammar.expected(after: words).source else { return [] }
        return found.map(\.word.text)
    }

    private func source(_ words: String...) -> String {
        "\(GrammarTests.grammar.expected(after: words).source)".prefix { $0 != "(" }.description
    }

    @Test func `completion offers commands, once for a group, and then the group's words`() {
        #expect(words("") == ["get", "run", "vault", "send", "paint", "help", "version"])
        #expect(words() == words(""))
        #expect(words("vault", "") == ["init", "verify"])
        #expect(words("help", "vault", "") == ["init", "verify"])
        #expect(Set(words("help", "")).isSuperset(of: ["exit-status", "commands", "options"]))
        #expect(!words("").contains("exit-status"))
        #expect(source("zebra", "") == "nothing" && source("vault", "zebra", "") == "nothing")
    }

    @Test func `completion offers unused options, and options that can be repeated`() {
        #expect(words("get", "--") == ["--json", "--scope", "--store", "--timeout", "--help"])
        #expect(words("get", "--json", "--store=x", "--scope", "y", "-") == ["--scope", "--timeout", "--help"])
        #expect(source("get", "--", "--") == "services")
        #expect(words("take", "--") == words("get", "--"))
    }

    @Test func `completion chooses values by their name in the help`() {
        #expect(source("get", "") == "services")
        #expect(source("get", "a", "") == "accounts")
        #expect(source("get", "a", "b", "") == "nothing")
        #expect(source("get", "--store", "") == "stores")
        #expect(source("get", "--timeout", "") == "nothing")
        #expect(source("send", "") == "providers")
        #expect(words("paint", "") == ["red", "green"])
        #expect(source("run", "a", "") == "programs" && source("run", "a", "ls", "-") == "files")
    }

    @Test func `a value after an equals sign is completed together with the word's beginning`() {
        let word = expected("get", "--store=va")
        #expect(word.before == "--store=" && word.beginning == "va")
        guard case .stores = word.source else { return #expect(Bool(false), "\(word.source)") }
    }

    @Test func `completion reads the earlier words as far as they are valid`() {
        let word = expected("get", "--timeout", "never", "--store", "vault", "--nonsense", "a", "")
        #expect(word.arguments?.value(GrammarTests.store) == "vault")
        #expect(word.arguments?.value(GrammarTests.timeout) == nil)
        #expect(word.arguments?.optionalOperand("SERVICE") == "a")
        #expect(expected("").arguments == nil)
    }
}
