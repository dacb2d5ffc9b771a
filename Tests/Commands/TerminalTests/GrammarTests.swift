internal import LatchkeyLog
@testable internal import LatchkeyCommandLine
internal import Testing

@Suite struct GrammarTests {
    static let store = CommandOption.value("--store", "STORE", help: "which")
    static let json = CommandOption.flag("--json", help: "as JSON")
    static let scope = CommandOption.value("--scope", "SCOPE", repeats: true, help: "a scope")
    static let timeout = CommandOption.value("--timeout", "SECONDS", form: .seconds, help: "how long")

    static let grammar = CommandGrammar(
        program: "tool", summary: "does things", version: "1", globalOptions: [store, timeout],
        commands: [
            CommandDefinition(
                ["get"], summary: "get it",
                operands: [.required("SERVICE", help: "what"), .optional("ACCOUNT", help: "whose")],
                options: [json, scope], examples: ["tool get it"]),
            CommandDefinition(
                ["run"], summary: "run it",
                operands: [.required("SERVICE", help: "what"), .rest("COMMAND", help: "a program")],
                options: [.value("--env", "NAME", form: .variable, help: "a variable")]),
            CommandDefinition(["vault", "init"], summary: "make it"),
            CommandDefinition(["vault", "verify"], summary: "check it"),
            CommandDefinition(
                ["send"], topic: .signIns, summary: "send it",
                operands: [
                    .required("PROVIDER", help: "whose"), .optional("METHOD", help: "how"),
                    .required("URL", help: "where"),
                ]),
            CommandDefinition(
                ["paint"], topic: .program, summary: "paint it",
                operands: [.choice("COLOUR", ["red", "green"], help: "which")]),
        ],
        aliases: [("take", "get")],
        synonyms: [("show", "get"), ("vault make", "vault init"), ("check", "vault verify")],
        pages: [.exitStatuses])

    private func parse(_ words: String...) throws(CommandFailure) -> CommandLineRequest {
        try Self.grammar.parse(words.map { Array($0.utf8) })
    }

    private func arguments(_ words: String...) throws -> ParsedArguments {
        guard case .run(let arguments) = try Self.grammar.parse(words.map { Array($0.utf8) }) else {
            throw CommandFailure(.usage, "usage.no-command", "no command", hint: nil)
        }
        return arguments
    }

    private func problem(_ words: String...) -> CommandFailure? {
        do throws(CommandFailure) {
            _ = try Self.grammar.parse(words.map { Array($0.utf8) })
            return nil
        } catch {
            return error
        }
    }

    // MARK: - What is read

    @Test func `options can come before and after operands, in both forms`() throws {
        let parsed = try arguments("--store=vault", "get", "--json", "a", "--timeout", "0.5", "b")
        #expect(parsed.command.name == "get")
        #expect(parsed.value(Self.store) == "vault")
        #expect(parsed.has(Self.json))
        #expect(parsed.seconds(Self.timeout) == .milliseconds(500))
        #expect(parsed.operand("SERVICE") == "a")
        #expect(parsed.optionalOperand("ACCOUNT") == "b")
    }

    @Test func `an omitted operand or option is nil`() throws {
        let parsed = try arguments("get", "a")
        #expect(parsed.optionalOperand("ACCOUNT") == nil)
        #expect(parsed.value(Self.store) == nil)
        #expect(!parsed.has(Self.json))
        #expect(parsed.all(Self.scope).isEmpty)
    }

    @Test func `after two hyphens everything is an operand`() throws {
        let parsed = try arguments("get", "--", "--json", "--")
        #expect(parsed.operand("SERVICE") == "--json")
        #expect(parsed.optionalOperand("ACCOUNT") == "--")
        #expect(!parsed.has(Self.json))
    }

    @Test func `another program's command line is passed on unchanged`() throws {
        for words in [["run", "a", "--timeout", "1", "--"], ["run", "--timeout", "1", "a"]] {
            let line = words + ["ls", "--json", "--", "-x", "--timeout"]
            guard case .run(let parsed) = try Self.grammar.parse(line.map { Array($0.utf8) }) else {
                Issue.record("not run: \(line)")
                continue
            }
            #expect(parsed.operand("SERVICE") == "a" && parsed.seconds(Self.timeout) == .seconds(1))
            #expect(parsed.operands.dropFirst() == ["ls", "--json", "--", "-x", "--timeout"])
        }
        #expect(problem("run", "a")?.code == "usage.missing-operand")
        #expect(problem("run", "a", "--")?.code == "usage.missing-operand")
        #expect(problem("run", "a", "--json", "ls")?.code == "usage.unknown-option")
        guard case .help(let help) = try parse("run", "--help") else { return #expect(Bool(false), "no help") }
        #expect(help.text.contains("tool run [OPTIONS] SERVICE -- COMMAND..."))
    }

    @Test(arguments: [
        ("A", true), ("_a9", true), ("GITHUB_TOKEN", true), ("", false), ("9A", false), ("A-B", false), ("A=B", true),
        ("=B", false),
        ("\u{E9}", false), (String(repeating: "A", count: 256), false),
    ])
    func `a variable's name is letters, digits and underscores`(name: String, isName: Bool) {
        #expect((problem("run", "a", "--env=\(name)", "ls") == nil) == isName)
    }

    @Test func `a single hyphen is an operand`() throws {
        #expect(try arguments("get", "-").operand("SERVICE") == "-")
    }

    @Test func `an option that can be repeated keeps its values in order`() throws {
        #expect(try arguments("get", "a", "--scope", "x", "--scope=y=z").all(Self.scope) == ["x", "y=z"])
    }

    @Test func `a value after an equals sign may begin with hyphens`() throws {
        #expect(try arguments("get", "a", "--scope=--x").all(Self.scope) == ["--x"])
        // One character for a person, and two in Unicode.
        #expect(try arguments("get", "a", "--scope=\u{301}x").all(Self.scope) == ["\u{301}x"])
        #expect(problem("get", "a", "--scope", "--x")?.code == "usage.missing-value")
    }

    @Test func `a command of two words needs both`() throws {
        #expect(try arguments("vault", "verify").command.name == "vault verify")
    }

    // MARK: - What is refused

    @Test func `each mistake has its own problem`() {
        #expect(problem()?.code == "usage.no-command")
        #expect(problem("vault")?.code == "usage.no-command")
        #expect(problem("fetch")?.code == "usage.unknown-command")
        #expect(problem("vault", "get")?.code == "usage.unknown-command")
        #expect(problem("get", "-x", "a")?.code == "usage.unknown-option")
        #expect(problem("--json", "get", "a")?.code == "usage.unknown-option")
        #expect(problem("get", "a", "--store")?.code == "usage.missing-value")
        #expect(problem("get", "a", "--json=1")?.code == "usage.unexpected-value")
        #expect(problem("--help=1")?.code == "usage.unexpected-value")
        #expect(problem("get", "--version=2")?.code == "usage.unexpected-value")
        #expect(problem("--scope", "y", "get", "a")?.hint?.text == "write it after its command: get")
        #expect(problem("get", "a", "--json", "--json")?.code == "usage.repeated-option")
        #expect(problem("get", "a", "--store=")?.code == "usage.bad-value")
        #expect(problem("get", "a", "b", "c")?.code == "usage.too-many-operands")
        #expect(problem("get")?.code == "usage.missing-operand")
    }

    @Test(arguments: ["0", "-1", "1e3", "nan", "inf", "0x10", "86401", "1.2.3", "", " 1"])
    func `an invalid number of seconds is refused`(_ text: String) {
        #expect(problem("get", "a", "--timeout=" + text)?.code == "usage.bad-value")
    }

    @Test func `invalid UTF-8 is refused anywhere`() {
        for position in 0..<3 {
            var words = [Array("get".utf8), Array("a".utf8), Array("--store=x".utf8)]
            words[position].append(0xFF)
            #expect(throws: CommandFailure.self) { try Self.grammar.parse(words) }
        }
        // Over-long encodings and lone surrogates are no UTF-8 either.
        for bytes: [UInt8] in [[0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xE2, 0x82]] {
            #expect(throws: CommandFailure.self) { try Self.grammar.parse([Array("get".utf8), bytes]) }
        }
    }

    @Test func `no usage error repeats a possible secret`() {
        let secret = "Tr0ub4dor&3"
        let lines = [
            [secret], ["get", "a", "b", secret], ["get", "-" + secret], ["get", "--" + secret, "a"],
            ["get", "a", "--json=" + secret], ["get", "a", "--timeout", secret], ["vault", secret],
            ["get", "a", "--unknown=" + secret],
        ]
        for line in lines {
            do throws(CommandFailure) {
                _ = try Self.grammar.parse(line.map { Array($0.utf8) })
                Issue.record("\(line) is no error")
            } catch {
                let text = error.description + (error.hint?.text ?? "")
                #expect(!text.contains(secret))
            }
        }
    }

    // MARK: - Suggestions

    @Test func `a misspelled word leads to the right word`() {
        #expect(problem("gte", "a")?.hint?.text == "did you mean tool get?")
        #expect(problem("vault", "verfiy")?.hint?.text == "did you mean tool vault verify?")
        #expect(problem("get", "--jsn", "a")?.hint?.text == "did you mean --json?")
        #expect(problem("get", "--halp")?.hint?.text == "did you mean --help?")
        #expect(problem("zebra")?.hint?.text == "run `tool --help`")
    }

    @Test func `another program's word leads to the command, and doesn't replace it`() {
        #expect(problem("show", "a")?.hint?.text == "did you mean tool get?")
        #expect(problem("vault", "make")?.hint?.text == "did you mean tool vault init?")
        #expect(problem("show", "a")?.code == "usage.unknown-command")
        // Before a slip: `check` is near to nothing else, and `init` is the second word of one command alone.
        #expect(problem("check")?.hint?.text == "did you mean tool vault verify?")
        #expect(problem("init")?.hint?.text == "did you mean tool vault init?")
    }

    @Test func `the distance of two words counts insertions, deletions, substitutions and swaps`() {
        func slips(_ from: String, _ to: String) -> Int { Suggestion.slips(from: Array(from.utf8), to: Array(to.utf8)) }
        #expect(slips("", "") == 0)
        #expect(slips("abc", "") == 3)
        #expect(slips("", "abc") == 3)
        #expect(slips("kitten", "sitting") == 3)
        #expect(slips("ab", "ba") == 1)
        #expect(slips("a cat", "an abct") == 4)
    }

    // MARK: - Operands

    @Test func `an optional operand can come before a required one`() throws {
        let both = try arguments("send", "work", "PUT", "/a")
        #expect(both.optionalOperand("METHOD") == "PUT" && both.operand("URL") == "/a")
        let one = try arguments("send", "work", "/a")
        #expect(one.optionalOperand("METHOD") == nil && one.operand("URL") == "/a")
        #expect(problem("send", "work")?.cause.text == "URL is missing")
        #expect(problem("send", "work", "PUT", "/a", "b")?.code == "usage.too-many-operands")
    }

    @Test func `an operand of fixed words accepts no other, and doesn't repeat it`() throws {
        #expect(try arguments("paint", "green").operand("COLOUR") == "green")
        #expect(problem("paint", "blue")?.cause.text == "COLOUR is one of red, green")
    }

    // MARK: - Help

    private func help(_ words: String...) throws -> String {
        guard case .help(let help) = try Self.grammar.parse(words.map { Array($0.utf8) }) else { return "no help" }
        return help.text
    }

    @Test func `help and version are words as well as options`() throws {
        #expect(try help("help") == help("--help"))
        #expect(try help("help", "get") == help("get", "--help"))
        #expect(try help("help", "vault") == help("vault", "--help"))
        #expect(try help("help", "vault", "init") == help("vault", "init", "--help"))
        #expect(try help("help", "help").hasPrefix("tool help: "))
        #expect(problem("help", "gte")?.hint?.text == "did you mean tool get?")
        guard case .version = try parse("version") else { return #expect(Bool(false), "no version") }
        #expect(problem("version", "x")?.code == "usage.too-many-operands")
    }

    @Test func `a page of the help has a separate table`() throws {
        let page = try help("help", "exit-status")
        #expect(page.hasPrefix("exit statuses:\n  0    done\n  1    not found\n"))
        #expect(try help("help").contains("  tool help exit-status  list the exit statuses\n"))
        #expect(problem("exit-status")?.code == "usage.unknown-command")
    }

    @Test func `the overview lists commands of one word, pages list all commands and the options of each`() throws {
        let overview = try help("help")
        #expect(overview.contains("\nsecrets:\n  get   get it\n  run   run it\n\nsign-ins:\n  send "), "\(overview)")
        #expect(!overview.contains("vault init") && !overview.contains("--store"))
        let text = try help("help", "commands")
        #expect(
            text.hasPrefix("secrets:\n  get           get it\n  run           run it\n\nsign-ins:\n  send "), "\(text)")
        #expect(text.contains("\nvault:\n  vault init    make it\n  vault verify  check it\n"))
        #expect(try help("help", "options").ranges(of: "--store STORE").count == 1)
        #expect(try !help("get", "--help").contains("--timeout"))
        #expect(try help("get", "--help").contains("\nexamples:\n  tool get it\n"))
    }

    @Test func `the program's name alone is an error unless there is an introduction`() throws {
        #expect(problem()?.code == "usage.no-command")
        let grammar = CommandGrammar(
            program: "tool", summary: "does", version: "1", globalOptions: [], commands: [], introduction: "Use it.")
        guard case .introduction(let text) = try grammar.parse([]) else { return #expect(Bool(false), "none") }
        #expect(text.text == "Use it.\n")
        #expect(throws: CommandFailure.self) { try grammar.parse([Array("--".utf8)]) }
    }

    @Test func `help is given for the program, a group and a command, whatever is missing`() throws {
        for (line, first) in [
            (["--help"], "tool: does things"), (["-h"], "tool: does things"),
            (["vault", "--help"], "usage: tool vault COMMAND [OPTIONS]"), (["get", "--help"], "tool get: get it"),
        ] {
            guard case .help(let help) = try Self.grammar.parse(line.map({ Array($0.utf8) })) else {
                Issue.record("\(line) gives no help")
                continue
            }
            #expect(help.text.hasPrefix(first + "\n"))
            #expect(help.text.hasSuffix("\n"))
        }
    }

    @Test func `the help of a command names every operand and option`() throws {
        guard case .help(let help) = try parse("get", "--help") else {
            Issue.record("no help")
            return
        }
        for word in [
            "SERVICE ", "[ACCOUNT]", "--json ", "--scope SCOPE…",
        ] {
            #expect(help.text.contains(word), "\(word)")
        }
    }
}

extension CommandFailure {
    fileprivate var code: String { codeName.description }
}
