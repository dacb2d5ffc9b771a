/// A process of its own that uses the Secret Service store on a private session's bus, as the test tells it to.
///
/// A process keeps one connection to one session bus for life, so a test can't do that in the test process.
public final class KeyringProbe: Sendable {
    public let program: RunningProgram

    public convenience init(_ session: PrivateSession, environment changes: [String: String?] = [:]) throws {
        try self.init(environment: session.environment, changes)
    }

    /// - Parameter changes: variables to set, or with `nil` to leave out.
    public init(environment: [String: String], _ changes: [String: String?] = [:]) throws {
        var variables = environment
        for (name, value) in changes { variables[name] = value }
        program = try BuiltProducts.program("keyring-probe").start(environment: variables)
    }

    /// A probe that may lock 64 KiB of memory, as Debian lets ordinary users at the least.
    public init(lockingLittleOn session: PrivateSession) throws {
        let limited = """
            ulimit -l 64
            # root may lock what it likes until it loses the capability.
            [ "$(id -u)" = 0 ] && exec setpriv --bounding-set=-ipc_lock --inh-caps=-ipc_lock "$0"
            exec "$0"
            """
        program = try Program("/bin/sh").start(
            ["-c", limited, BuiltProducts.program("keyring-probe").path], environment: session.environment)
    }

    /// Gives a command (see Tests/Stores/KeyringProbe) and returns the words of its answer.
    public func ask(_ words: String..., within timeout: Duration = .seconds(300)) async throws -> [String] {
        try await ask(words, within: timeout)
    }

    public func ask(_ words: [String], within timeout: Duration = .seconds(300)) async throws -> [String] {
        let answered = answers.count
        program.type(words.joined(separator: "\t") + "\n")
        try await program.wait(for: words.joined(separator: " "), within: timeout) { answers.count > answered }
        return answers[answered].split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    }

    /// Complete lines only.
    private var answers: [Substring] {
        program.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    }

    // MARK: - Shorter

    /// Saves text and returns the answer's words: `saved VERSION` or `error CODE …`.
    @discardableResult
    public func save(
        _ service: String, _ account: String, _ text: String, kind: String = "password", condition: String = "none"
    ) async throws -> [String] {
        try await ask("save", service, account, kind, Hex.digits(Array(text.utf8)), condition)
    }

    /// Returns the text of a secret, `nil` when there is none; anything else is an error.
    public func read(_ service: String, _ account: String, kind: String = "password") async throws -> String? {
        let words = try await ask("read", service, account, kind)
        switch words[0] {
        case "none": return nil
        case "secret": return String(decoding: Hex.bytes(words[1]), as: UTF8.self)
        default: throw ServiceFailure("read \(service)/\(account): \(words.joined(separator: " | "))")
        }
    }
}

/// Hexadecimal digits, for bytes on a line of text.
public enum Hex {
    public static func digits(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    public static func bytes(_ digits: some StringProtocol) -> [UInt8] {
        let values = digits.utf8.map { $0 < 0x3A ? $0 - 0x30 : $0 - 0x57 }
        return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }
}
