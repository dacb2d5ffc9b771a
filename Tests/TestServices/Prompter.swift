internal import Foundation

/// Takes the place of the dialog in which gnome-keyring asks for the password of a collection.
public final class Prompter: Sendable {
    /// What the person in front of it does.
    public enum Manner: Sendable {
        /// Types these passwords, one a prompt, and the last one again and again.
        case answer([String])
        case cancel
        case hang
    }

    private let program: RunningProgram

    /// Starts it on a session's bus and waits until it takes prompts.
    public init(_ manner: Manner, on session: PrivateSession) async throws {
        let arguments =
            switch manner {
            case .answer(let passwords): ["answer"] + passwords
            case .cancel: ["cancel"]
            case .hang: ["hang"]
            }
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Programs/prompter.py"
        // The system's Python: it has the packages that Debian installs.
        program = try Program("/usr/bin/python3").start([script] + arguments, environment: session.environment)
        try await program.wait(for: "prompts") { count("ready") == 1 }
    }

    /// How many dialogs were begun.
    public var begun: Int { count("begin") }
    /// How often a password was asked for.
    public var asked: Int { count("prompt") }

    /// Waits until a condition on it holds.
    public func wait(for what: String, until condition: (Prompter) -> Bool) async throws {
        try await program.wait(for: what) { condition(self) }
    }

    private func count(_ word: String) -> Int {
        program.outputSoFar.split(separator: "\n").count { $0.hasPrefix(word) }
    }
}
