import Foundation
import Synchronization
import Testing
import TestServices

/// Where a test keeps its credentials.
enum StoreUnderTest: String, CaseIterable, CustomTestStringConvertible {
    case vault
    case secretService = "secret-service"

    var testDescription: String { rawValue }
}

/// A person's terminal session with `latchkey`: one environment, one store, and a record of all that was said.
///
/// Every command runs at the most talkative log level, so that the record holds whatever could ever be logged.
final class CommandLineSession: Sendable {
    let directory: TestDirectory
    let store: StoreUnderTest
    let desktop: PrivateSession?
    let environment: [String: String]
    private let said = Mutex<[UInt8]>([])

    init(_ store: StoreUnderTest, extra: (TestDirectory) throws -> [String: String] = { _ in [:] }) async throws {
        self.store = store
        desktop = store == .secretService ? try await PrivateSession(.unlocked) : nil
        directory = try desktop?.directory ?? TestDirectory()
        var environment = try desktop?.environment ?? directory.environment()
        environment["LATCHKEY_STORE"] = store.rawValue
        if store == .vault { environment["LATCHKEY_KEY_FILE"] = directory / "vault.key" }
        environment.merge(try extra(directory)) { _, new in new }
        self.environment = environment
        if store == .vault { try await run(["vault", "init", "--key-file", directory / "vault.key"]) }
    }

    /// Runs a command, and records what it said unless its output is the secret that was asked for.
    @discardableResult
    func run(
        _ arguments: [String], input: String = "", outputIsSecret: Bool = false, expecting status: Int32 = 0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ProgramRun {
        let run = try await BuiltProducts.latchkey().run(
            ["--log-level", "trace"] + arguments, environment: environment, input: Array(input.utf8))
        said.withLock {
            $0 += run.errorOutput
            if !outputIsSecret { $0 += run.output }
        }
        #expect(
            run.status == status, "latchkey \(arguments.joined(separator: " ")):\n\(run.errorText)\(run.outputText)",
            sourceLocation: sourceLocation)
        return run
    }

    /// Runs a command with a person at its terminal, and records what it said apart from what the terminal showed.
    @discardableResult
    func run(
        _ arguments: [String], on terminal: PseudoTerminal, person: (RunningProgram) async throws -> Void
    ) async throws -> ProgramRun {
        let running = try BuiltProducts.latchkey().start(
            arguments + ["--log-level", "trace"], environment: environment, terminal: terminal)
        try await person(running)
        let run = try await running.finish()
        said.withLock { $0 += run.errorOutput + run.output }
        return run
    }

    /// The session of an account as it lies in the store, read by another program; `nil` where no other can.
    func storedSession(of provider: String, account: String) async throws -> [UInt8]? {
        guard let desktop else { return nil }
        let attributes = ["service", "latchkey:" + provider, "username", account, "latchkey:kind", "session"]
        return try await desktop.secretTool(["lookup"] + attributes).successful("secret-tool lookup").output
    }

    /// All output and logs of the session so far.
    var transcript: [UInt8] { said.withLock { $0 } }
}
