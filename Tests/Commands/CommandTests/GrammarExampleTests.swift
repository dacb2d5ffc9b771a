import LatchkeyLog
import LatchkeyCommands
import LatchkeyStoreSelection
import LatchkeyCommandLine
import Testing

/// The command lines that help shows are ones that the program takes, and the words that people try lead to commands.
@Suite struct GrammarExampleTests {
    private let grammar = LatchkeyGrammar.grammar(.standard)

    /// The arguments of each `latchkey …` in a line of a shell.
    static func commandLines(in line: String) -> [[String]] {
        var words: [String] = []
        var quoted: String?
        for word in line.split(separator: " ").map(String.init) {
            if let begun = quoted {
                quoted = word.hasSuffix("'") ? nil : "\(begun) \(word)"
                if quoted == nil { words.append(String("\(begun) \(word)".dropFirst().dropLast())) }
            } else if word.hasPrefix("'"), !word.hasSuffix("'") {
                quoted = word
            } else {
                words.append(word.filter { $0 != "'" })
            }
        }
        return words.indices.filter { words[$0].drop { $0 == "<" || $0 == "(" } == "latchkey" }.map { index in
            words[(index + 1)...].prefix { !["|", "<", ">", "&&", ";"].contains($0) }.map { $0.filter { $0 != ")" } }
        }
    }

    @Test func `every command has an example, and the program accepts it`() throws {
        for command in grammar.commands {
            let examples = command.examples
            #expect(!examples.isEmpty, "\(command.name) has no example")
            for example in examples {
                let lines = Self.commandLines(in: example.description)
                #expect(!lines.isEmpty, "\(example)")
                for line in lines {
                    let words = line.filter { $0 != "latchkey" }
                    #expect(throws: Never.self, "\(example)") { try grammar.parse(words.map { Array($0.utf8) }) }
                    #expect(
                        words.starts(with: command.words.map(\.description)), "\(example) is not of \(command.name)")
                }
            }
        }
    }

    @Test func `the introduction shows six jobs, with command lines that the program accepts`() throws {
        let lines = grammar.introduction.description.split(separator: "\n").filter { $0.hasPrefix("  ") }
        #expect(lines.count == 6)
        for line in lines {
            let words = try #require(Self.commandLines(in: String(line)).first)
            guard case .run = try grammar.parse(words.map { Array($0.utf8) }) else {
                Issue.record("\(line)")
                continue
            }
        }
    }

    @Test func `every synonym leads to a command, and isn't a command itself`() {
        for (word, command) in grammar.synonyms {
            #expect(grammar.command(named: command.description) != nil, "\(word) leads to \(command)")
            #expect(!grammar.commands.contains { $0.name == word.description }, "\(word) is a command")
        }
    }

    @Test(arguments: [
        ("init", "vault init"), ("unlock", "vault unlock"), ("lock", "vault lock"), ("cat", "get"), ("add", "set"),
        ("export", "vault export"), ("verify", "vault verify"), ("slots", "vault slots"), ("rekey", "vault rekey"),
        ("find", "search"), ("api", "request"), ("remove", "delete"), ("mv", "rename"), ("whoami", "accounts"),
    ])
    func `words of other programs lead to the right command`(_ word: String, _ command: String) {
        do throws(CommandFailure) {
            _ = try grammar.parse([Array(word.utf8)])
            Issue.record("\(word) is taken")
        } catch {
            #expect(error.hint?.text == "did you mean latchkey \(command)?")
            #expect(ExitStatus(error) == .usage)
        }
    }

    @Test(arguments: [
        (["ls"], "list"), (["rm", "a"], "delete"), (["show", "a"], "get"), (["login", "a"], "sign-in"),
        (["logout", "a"], "sign-out"),
    ])
    func `other programs' names for commands work`(_ words: [String], _ command: String) throws {
        guard case .run(let arguments) = try grammar.parse(words.map { Array($0.utf8) }) else {
            return #expect(Bool(false), "\(words) doesn't run")
        }
        #expect(arguments.command.name == command)
        // Where the word isn't a command's first, it is what it is.
        guard case .run(let get) = try grammar.parse([Array("get".utf8), Array(words[0].utf8)]) else {
            return #expect(Bool(false), "\(words[0]) isn't an operand")
        }
        #expect(get.operand("SERVICE") == words[0])
    }

    @Test func `the help is short: lines have at most 100 columns, and a command's help fits on a screen`() throws {
        for words in [["help"]] + grammar.commands.map({ ["help"] + $0.words.map(\.description) }) {
            guard case .help(let help) = try grammar.parse(words.map { Array($0.utf8) }) else {
                Issue.record("no help for \(words)")
                continue
            }
            let lines = help.text(width: 100).split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.allSatisfy { $0.count <= 100 }, "\(words): \(lines.filter { $0.count > 100 })")
            #expect(words.count == 1 || lines.count <= 66, "\(words): \(lines.count) lines")
        }
    }
}
