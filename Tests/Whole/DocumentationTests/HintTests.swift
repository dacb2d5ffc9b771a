import Foundation
import LatchkeyCredentials
import LatchkeyLog
import LatchkeyOAuth
@testable import LatchkeySignIn
import LatchkeyCommands
import LatchkeyStoreSelection
import LatchkeyCommandLine
import Testing

/// What the command line tells people to do can be done: every command and option that one of its texts names is there,
/// and there for that command. An error without a hint is one that nothing but itself explains.
struct HintTests {
    private static let grammar = LatchkeyGrammar.grammar(.standard)
    private static let global = Set(
        grammar.globalOptions.map(\.name.text) + ["--help", "--version"])

    /// Options of other programs, in the files that name them.
    private static let foreign = [
        "Commands/Commands/Vault/VaultNewKeyCommand.swift": ["--name"],
        "Commands/Commands/Doctor/ProcessCheck.swift": ["--ulimit"],
        "Commands/Commands/Program/StoreHints.swift": ["--unlock"],
        "Commands/Commands/Setup/SetupCommand.swift": ["--get-all", "--show-origin"],
        "Commands/Commands/Setup/KubectlSetup.swift": [
            "--exec-api-version", "--exec-command", "--exec-interactive-mode", "--exec-arg", "--kubeconfig",
            "--current",
            "--user",
        ],
        "Commands/Commands/Keyring/PrivateBus.swift": [
            "--nofork", "--nopidfile", "--print-address", "--session", "--config-file",
        ],
        "Commands/Commands/Secrets/Clipboard.swift": ["--clear", "--foreground", "--type"],
    ]

    /// The command line's sources, a line with the text of each literal in it.
    private static func texts() throws -> [(path: String, texts: [String])] {
        try Repository.sources().filter { source in source.path.hasPrefix("Commands/") }.map { source in
            var texts: [String] = []
            var isLong = false
            for line in source.code.split(separator: "\n") where line.utf8.contains(UInt8(ascii: "\"")) || isLong {
                if line.contains("\"\"\"") {
                    isLong.toggle()
                } else if isLong {
                    texts.append(String(line))
                } else {
                    texts += line.matches(of: /"((?:[^"\\]|\\.)*)"/).map { String($0.output.1) }
                }
            }
            return (source.path, texts)
        }
    }

    /// The commands that a file defines.
    private static func commands(of path: String) throws -> [CommandDefinition] {
        let code = try Repository.text("Sources/" + path)
        var names: [String] = []
        let direct = /Command\(\s*"([a-z-]+)"(?:, "([a-z-]+)")?/
        for found in code.matches(of: direct) {
            names.append([found.output.1, found.output.2].compactMap { $0 }.joined(separator: " "))
        }
        return names.compactMap { grammar.command(named: $0) }
    }

    private static func options(in text: some StringProtocol) -> [String] {
        String(text).matches(of: /(?:^|[^\w-])(--[a-z][a-z-]+)/).map { String($0.output.1) }
    }

    /// What a text gets wrong, with the commands that it may be about.
    private static func mistakes(in text: String, about own: [CommandDefinition]) -> [String] {
        var mistakes: [String] = []
        // Each command line ends where the next one begins, or with the clause.
        let parts = text.split(separator: "latchkey ", omittingEmptySubsequences: false).map(String.init)
        let anywhere = Set(own.isEmpty ? grammar.commands.flatMap(allOptions) : own.flatMap(allOptions))
        for (index, part) in parts.enumerated() {
            let line = index == 0 ? "" : part.prefix { !";,".contains($0) }
            let words = line.prefix { $0.isLowercase || "- ".contains($0) }.split(separator: " ").map(String.init)
            var known = anywhere
            if let first = words.first, first.first?.isLetter == true {
                let named = grammar.commands.filter { $0.words[0].description == first }
                if named.isEmpty { mistakes.append("there is no latchkey \(first)") }
                known = Set(named.flatMap(allOptions))
                if named.contains(where: { $0.words.count == 2 }), words.count > 1 {
                    let command = named.first { $0.words[1].description == words[1] }
                    if command == nil { mistakes.append("there is no latchkey \(first) \(words[1])") }
                    known = Set(command.map(allOptions) ?? [])
                }
            }
            for (text, known) in [(line, known), (part.dropFirst(line.count), anywhere)] {
                for option in options(in: text) where !known.contains(option) && !global.contains(option) {
                    mistakes.append("there is no \(option) there")
                }
            }
        }
        return mistakes
    }

    private static func allOptions(_ command: CommandDefinition) -> [String] { command.options.map(\.name.text) }

    @Test func `every command and option in a text exists`() throws {
        var count = 0
        for (path, texts) in try Self.texts() {
            let own = try Self.commands(of: path)
            for text in texts where text.contains("latchkey ") || text.contains("--") {
                // Prose about the program, and what a page of the help is called.
                if text.contains("latchkey keeps ") || text.contains("beside latchkey in ")
                    || text.hasPrefix("# Completions of latchkey ")
                    || text.contains("__complete") || text.contains("for latchkey") || text.contains("latchkey itself")
                    || text.hasPrefix("latchkey-worker") || path.hasSuffix("CompletionsCommand.swift")
                {
                    continue
                }
                count += 1
                let mistakes = Self.mistakes(in: text, about: own).filter { mistake in
                    !(Self.foreign[path] ?? []).contains { mistake.contains($0) }
                }
                #expect(mistakes.isEmpty, "\(path): \(text)")
            }
        }
        #expect(count > 150)
    }

    @Test func `a text names the provider where the provider is known`() throws {
        for (path, texts) in try Self.texts() {
            for text in texts { #expect(!text.contains(/latchkey [a-z -]+ PROVIDER/), "\(path): \(text)") }
        }
    }

    @Test func `a text with a missing command or option is noticed`() throws {
        let list = try #require(Self.grammar.command(named: "list"))
        #expect(Self.mistakes(in: "see latchkey lst", about: []) == ["there is no latchkey lst"])
        #expect(Self.mistakes(in: "latchkey vault inti", about: []) == ["there is no latchkey vault inti"])
        #expect(Self.mistakes(in: "give --key-file", about: [list]) == ["there is no --key-file there"])
        #expect(Self.mistakes(in: "latchkey vault init --key-file F, or --store", about: [list]).isEmpty)
        #expect(Self.mistakes(in: "latchkey list --key-file F", about: []) == ["there is no --key-file there"])
    }

    // MARK: - The table of codes

    /// What looks like a code and is none: hosts, a file of the kernel's. Categories of the log begin with our name.
    private static let others: Set = [
        "github.com", "gitlab.com", "codeberg.org", "plc.directory", "alice.test", "memory.max",
        "memory.limit_in_bytes",
    ]

    private static let page = "Docs/Reference/error-codes.md"

    /// An error of a kind, to ask for its exit status.
    private struct Probe: RedactedError {
        let kind: Explanation.Kind
        var explanation: Explanation { .init(kind, "test.probe", "a probe") }
    }

    /// What a code's errors can be.
    private struct Outcomes: Equatable {
        var kinds: Set<Explanation.Kind> = []
        var statuses: Set<Int32> = []

        mutating func insert(
            _ kinds: some Sequence<Explanation.Kind>, endingWith status: LatchkeyCommandLine.ExitStatus? = nil
        ) {
            for kind in kinds {
                self.kinds.insert(kind)
                statuses.insert((status ?? LatchkeyCommandLine.ExitStatus(Probe(kind: kind))).rawValue)
            }
        }

        /// The two cells of the table.
        var cells: [String] {
            [
                kinds.map { "`\($0)`" }.sorted().joined(separator: ", "),
                statuses.sorted().map(String.init).joined(separator: ", "),
            ]
        }
    }

    /// Errors whose kind isn't a literal beside their code: values of them.
    private static let values: [any RedactedError] =
        [
            GitHubAuthError.userCancelled, .accessDenied, .stateMismatch, .issuerMismatch, .invalidResponse, .timedOut,
            .cancelled, .notSignedIn, .noCurrentAccount, .sessionEnded, .otherOrigin,
        ]
        + [302, 400, 429, 500].flatMap { status -> [any RedactedError] in
            [
                GitHubAuthError.exchangeFailed(statusCode: status), OAuthError(.exchangeFailed(statusCode: status)),
                OAuthError(.revocationFailed(statusCode: status)), OAuthError(.discoveryFailed(statusCode: status)),
                OAuthError(.requestRefused(.keySet, statusCode: status)),
            ]
        }
        + StoreError.Code.allCases.map { SignInError(.tokensNotStored(StoreError($0, "a cause"))) }

    /// Commands that give another module's error a kind that fits them: wrong words on a command line.
    private static let reworded: [String: [Explanation.Kind]] = [
        "oauth.invalid-configuration": [.usage, .badData], "collection.invalid": [.configuration],
        "request.status": [.refused, .tryAgain, .unavailable],
    ]

    private static let codeName = #""([a-z]+(?:-[a-z]+)*\.[a-z0-9_]+(?:-[a-z0-9]+)*)""#

    /// What the sources say of each code.
    private static func outcomes() throws -> [String: Outcomes] {
        var outcomes: [String: Outcomes] = [:]
        let names = Dictionary(uniqueKeysWithValues: Explanation.Kind.allCases.map { ("\($0)", $0) })
        let row = #"\(\s*([^"();]*(?:\([^"()]*\)[^"();]*)?),\s*"# + codeName
        for (_, code) in try Repository.sources() {
            for found in try Repository.matches(of: row, in: code) {
                let kinds = found.groups[0].matches(of: /\.([a-zA-Z]+)/).compactMap { names[String($0.output.1)] }
                let call = call(in: code[found.place.lowerBound...].dropFirst())
                let status = call.firstMatch(of: /exitStatus: \.(\w+)/).flatMap { match in
                    LatchkeyCommandLine.ExitStatus.allCases.first { "\($0)" == match.output.1 }
                }
                outcomes[found.groups[1], default: Outcomes()].insert(kinds, endingWith: status)
            }
        }
        for error in values { outcomes[error.codeName.description, default: Outcomes()].insert([error.kind]) }
        for (code, kinds) in reworded { outcomes[code, default: Outcomes()].insert(kinds) }
        outcomes["request.status"]?.statuses.insert(LatchkeyCommandLine.ExitStatus.otherStatus.rawValue)
        return outcomes
    }

    @Test func `the table has each error's code once, in order, with its kinds and exit statuses`() throws {
        var codes: Set<String> = []
        // Statements of the contract are full of names that look like codes.
        for (path, code) in try Repository.sources() where !path.hasPrefix("Extras/StoreContract/") {
            for found in try Repository.matches(of: Self.codeName, in: code) {
                let text = found.groups[0]
                if !text.hasPrefix("latchkey."), !Self.others.contains(text) { codes.insert(text) }
            }
        }
        #expect(codes.count > 150)
        let outcomes = try Self.outcomes()
        var lines = try Repository.lines(Self.page)
        var listed: [String] = []
        for (index, line) in lines.enumerated() where line.hasPrefix("| `") {
            let cells = line.replacing("\\|", with: "\u{0}").split(separator: "|", omittingEmptySubsequences: false)
                .dropFirst().dropLast().map { $0.trimmingCharacters(in: .whitespaces) }
            try #require(cells.count == 5, "\(line)")
            let code = cells[0].filter { $0 != "`" }
            listed.append(code)
            let outcome = try #require(outcomes[code], "\(Self.page): \(code) has no kind in the sources")
            #expect(!outcome.kinds.isEmpty, "\(code) has no kind")
            let made = [cells[0]] + outcome.cells + cells[3...]
            lines[index] = made.reduce("|") { $0 + ($1.isEmpty ? " |" : " \($1) |") }.replacing("\u{0}", with: "\\|")
            #expect(lines[index] == line, "\(Self.page): write \(lines[index])")
            #expect(cells[3].count > 8, "\(line)")
        }
        if ProcessInfo.processInfo.environment["LATCHKEY_RECORD"] != nil {
            try lines.joined(separator: "\n").write(
                to: Repository.root.appendingPathComponent(Self.page), atomically: true, encoding: .utf8)
            Issue.record("recorded \(Self.page): run again without LATCHKEY_RECORD")
        }
        #expect(listed == listed.sorted() && Set(listed).count == listed.count)
        for code in codes.subtracting(listed).sorted() { Issue.record("\(Self.page): add \(code)") }
        for code in Set(listed).subtracting(codes).sorted() { Issue.record("\(Self.page): remove \(code)") }
    }

    @Test func `every remedy in the table exists`() throws {
        for line in try Repository.lines(Self.page) where line.hasPrefix("| `") {
            for text in line.matches(of: /`([^`]+)`/).map({ String($0.output.1) }) {
                let mistakes = Self.mistakes(in: text, about: []).filter { !$0.contains("--passphrase-fd 3") }
                #expect(mistakes.isEmpty, "\(line)")
            }
        }
    }

    // MARK: - Errors of commands

    /// Errors that nothing more can be said of: their code, and why.
    private static let withoutHint = [
        "docker.not-found": "docker's own text, which it compares", "docker.no-server": "docker's own text",
        "docker.no-user": "docker's own text", "docker.no-secret": "in the manner of docker's own texts",
        "program.not-started": "the number says what the system refused",
        "run.not-started": "the number says what the system refused",
        "internal.unexpected": "a mistake of ours",
        "slot.bad-name": "the cause is the rule itself",
        "random.refused": "the number says what the system refused",
        "request.status": "the server's own response stands before it",
    ]

    @Test func `every error of a command has a hint, or a reason to have none`() throws {
        var codes: Set<String> = []
        for (path, code) in try Repository.sources() where path.hasPrefix("Commands/") {
            for start in code.ranges(of: "CommandFailure(") {
                let call = Self.call(in: code[start.upperBound...])
                guard let name = call.firstMatch(of: /"([a-z-]+\.[a-z0-9-]+)"/)?.output.1 else { continue }
                codes.insert(String(name))
                if call.contains("hint:") { continue }
                #expect(Self.withoutHint[String(name)] != nil, "\(path): \(name) has no hint")
            }
        }
        #expect(codes.count > 60)
        for code in Self.withoutHint.keys { #expect(codes.contains(code), "\(code) is not there") }
    }

    /// A call's arguments, to the parenthesis that ends it.
    private static func call(in rest: Substring) -> String {
        var depth = 1
        return String(
            rest.prefix { character in
                if character == "(" { depth += 1 }
                if character == ")" { depth -= 1 }
                return depth > 0
            })
    }
}
