import Foundation
import LatchkeyCredentials
import LatchkeyLeakAudit
import LatchkeySecrets
import LatchkeyTestServer
import LatchkeyVault
import Synchronization
import Testing
import TestServices

/// A terminal where a flow's server is known as `work`, a store, and a person with a browser.
///
/// Every command runs at the most talkative level, one log format after the other, and all that it says is kept for the
/// search at the end.
final class FlowSession: Sendable {
    static let formats = ["text", "json", "journal"]

    let flow: SignInFlow
    let store: StoreUnderTest
    let directory: TestDirectory
    let environment: [String: String]
    let server: LoopbackAuthorizationServer
    private let network: LoopbackATProtocolNetwork?
    private let desktop: PrivateSession?
    private let journal: StandInJournal
    private let audit = LeakAudit()
    private let format: String?
    private let runCount = Mutex(0)
    private let shown = Mutex<[(name: String, text: String)]>([])
    /// The private halves of the keys that tokens were bound to.
    private let keys = Mutex<Set<[UInt8]>>([])

    /// - Parameters:
    ///   - format: of all logs; by default one after the other.
    ///   - browser: the value of `BROWSER`; by default a program that follows every redirect and consents to nothing.
    init(_ flow: SignInFlow, _ store: StoreUnderTest, format: String? = nil, browser: String? = nil) async throws {
        self.flow = flow
        self.store = store
        self.format = format
        network = flow.isATProtocol ? try LoopbackATProtocolNetwork(configuration: flow.server) : nil
        server = try network?.authorizationServer ?? LoopbackAuthorizationServer(flow.server)
        desktop = store == .secretService ? try await PrivateSession(.unlocked) : nil
        directory = try desktop?.directory ?? TestDirectory()
        journal = try StandInJournal(at: directory / "journal")
        var environment = try desktop?.environment ?? directory.environment()
        environment["LATCHKEY_STORE"] = store.rawValue
        environment["LATCHKEY_JOURNAL"] = journal.path
        if store == .vault { environment["LATCHKEY_KEY_FILE"] = directory / "key" }
        environment["BROWSER"] =
            try browser
            ?? directory.write(
                "browser", "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n",
                mode: 0o700
            )
        self.environment = environment
        if store == .vault { try await run(["vault", "init", "--key-file", directory / "key"]) }
        try await addProvider()
    }

    private func addProvider() async throws {
        var arguments = ["provider", "add", "work"]
        if let network {
            let host = network.directoryOrigin.dropFirst("http://".count)
            arguments += ["--service", "bluesky", "--host", String(host)]
        } else {
            arguments += ["--issuer", server.issuer, "--scope", "read", "--scope", "openid"]
            if !flow.added.contains("--register") { arguments += ["--client-id", "latchkey"] }
        }
        try await run(arguments + flow.added, input: flow.clientSecret ?? [])
    }

    // MARK: - Commands

    var signIn: [String] {
        ["sign-in", "work"] + flow.signedIn + (network.map { ["--account", $0.did] } ?? [])
    }
    var request: [String] {
        ["request", "work", "GET", network == nil ? server.userInfoEndpoint : "/xrpc/com.atproto.server.getSession"]
    }

    /// The options of the next command's log, which stand before all others.
    func logging() -> [String] {
        let number = runCount.withLock { count in
            count += 1
            return count
        }
        return ["--log-level", "trace", "--log-format", format ?? Self.formats[number % Self.formats.count]]
    }

    @discardableResult
    func run(
        _ arguments: [String], input: [UInt8] = [], isSecret: Bool = false, _ statuses: ClosedRange<Int32> = 0...0,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> ProgramRun {
        let run = try await BuiltProducts.latchkey().run(logging() + arguments, environment: environment, input: input)
        try note(run, arguments, isSecret: isSecret)
        #expect(
            statuses.contains(run.status), "\(arguments): \(run.status)\n\(run.errorText)",
            sourceLocation: sourceLocation)
        return run
    }

    /// Keeps what a command said, and what came in the journal since the last.
    func note(_ run: ProgramRun, _ arguments: [String], isSecret: Bool = false) throws {
        let name = arguments.joined(separator: " ")
        audit.capture(run.errorOutput, as: "standard error of \(name)")
        if !isSecret { audit.capture(run.output, as: "standard output of \(name)") }
        // Nothing ordinary is taken for a secret.
        #expect(!run.errorText.contains("withheld"), "\(run.errorText)")
        for entry in try journal.take() {
            audit.capture(entry.bytes, as: "journal of \(name)")
            #expect(entry["MESSAGE"]?.contains("withheld") == false)
        }
    }

    /// Signs in, with a person at the terminal where the flow needs one.
    func signIn(
        _ statuses: ClosedRange<Int32> = 0...0, as person: Visitor = .willing,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let terminal = flow.signedIn == ["--browser"] ? nil : try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            logging() + signIn, environment: environment, terminal: terminal)
        try await attend(terminal, running, as: person)
        let run = try await running.finish()
        try note(run, signIn)
        #expect(
            statuses.contains(run.status), "\(signIn): \(run.status)\n\(run.errorText)\(terminal?.shown ?? "")",
            sourceLocation: sourceLocation)
    }

    // MARK: - The person

    enum Visitor { case willing, mistaken }

    /// Does at the terminal what the flow asks of the person, as long as the program runs.
    func attend(_ terminal: PseudoTerminal?, _ running: RunningProgram, as visitor: Visitor = .willing) async throws {
        guard let terminal else { return }
        if flow.signedIn == ["--paste"] {
            try await paste(terminal, running, visitor)
        } else {
            try await confirm(terminal, running)
        }
        shown.withLock { $0.append((flow.testDescription, terminal.shown)) }
    }

    private func paste(_ terminal: PseudoTerminal, _ running: RunningProgram, _ visitor: Visitor) async throws {
        let address = try Regex("http://[^\\s]*code_challenge[^\\s]*")
        try await running.wait(for: "the address and the question") {
            !running.isRunning || terminal.shown.contains(address) && !terminal.echoes
        }
        guard let url = terminal.shown.firstMatch(of: address).map({ String(terminal.shown[$0.range]) }) else { return }
        let answer = try await Program("curl").run(
            ["--silent", "--noproxy", "*", "--output", "/dev/null", "--write-out", "%{redirect_url}", url]
        ).outputText
        guard visitor == .mistaken else { return terminal.type(answer + "\n") }
        // The response of another sign-in, then nothing more.
        terminal.type(answer.replacing(/state=[^&]*/, with: "state=another") + "\n")
        try await terminal.waitForQuestion("belongs to another sign-in", from: running)
        terminal.type("\u{3}")
    }

    private func confirm(_ terminal: PseudoTerminal, _ running: RunningProgram) async throws {
        let shown = /[ ]{8}([A-Z0-9]{4}-[A-Z0-9]{4})/
        try await running.wait(for: "the code") { !running.isRunning || terminal.shown.contains(shown) }
        guard let code = terminal.shown.firstMatch(of: shown)?.output.1 else { return }
        try await Program("curl").run(
            ["--silent", "--noproxy", "*", "--output", "/dev/null", "\(server.origin)/device?user_code=\(code)"]
        ).successful("curl")
    }

    // MARK: - The secrets

    /// Every secret that the server saw or gave, of sixteen bytes or more, with its name.
    func secrets() -> [(name: String, bytes: [UInt8])] {
        var secrets: [(String, [UInt8])] = []
        server.withEachSecret { name, secret in
            guard secret.byteCount >= 16 else { return }
            secrets.append((name, secret.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }))
        }
        return secrets
    }

    /// The keys that the store has now, each as its scalar of 32 bytes, the greatest first.
    func storedKeys() async throws -> Set<[UInt8]> {
        var texts: [[UInt8]] = []
        if let desktop {
            texts = try await desktop.items().filter { $0.attributes["latchkey:kind"] == "private-key" }
                .map { Array($0.secret.utf8) }
        } else {
            let vault = try await VaultStore.open(
                at: directory / "data/latchkey/vault", unlockedBy: .keyFile(directory / "key"))
            for try await entry in vault.list(service: "latchkey:work", deadline: .after(.seconds(60)))
            where entry.key.kind == .privateKey {
                guard
                    let record = try await vault.read(
                        entry.key, as: PrivateKey.self, deadline: .after(.seconds(60)))
                else { continue }
                texts.append(record.secret.withExposedBytes { bytes in bytes.indices.map { bytes[$0] } })
            }
        }
        let found = try texts.map { text in
            let members = try JSONSerialization.jsonObject(with: Data(text)) as? [String: Any]
            let scalar = try #require(members?["d"] as? String)
            return try #require(Base64URL.decode(scalar))
        }
        keys.withLock { $0.formUnion(found) }
        return Set(found)
    }

    /// The keys that were there whenever `storedKeys` looked.
    var knownKeys: Set<[UInt8]> { keys.withLock(\.self) }

    /// Searches all that was said and kept for each secret.
    func expectNothingFound(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let terminals = LeakAudit()
        try server.withEachSecret { (name, secret) throws(LeakAudit.CanaryTooShort) in
            guard secret.byteCount >= LeakAudit.minimumByteCount else { return }
            try audit.plant(secret)
            switch name {
            case "state": try terminals.plant(secret.duplicate(as: AuthorizationState.self))
            // In the address that paste shows it is too.
            case "nonce" where flow.signedIn == ["--paste"]: break
            default: try terminals.plant(secret)
            }
        }
        for key in knownKeys {
            try audit.plant(Secret<PrivateKey>(copying: key.span))
            try terminals.plant(Secret<PrivateKey>(copying: key.span))
        }
        #expect(knownKeys.isEmpty != flow.isBoundToKey, sourceLocation: sourceLocation)
        if store == .vault {
            let key = try directory.read("key")
            try audit.plant(Secret<PrivateKey>(copying: key.span))
        }
        for folder in ["home", "data", "config", "state", "cache", "run", "tmp"] {
            try audit.capture(folder: directory / folder)
        }
        for (name, text) in shown.withLock(\.self) {
            terminals.capture(
                text, as: "the terminal of \(name)",
                allowing: flow.signedIn == ["--paste"] ? .stateInURLThatPastePrints : nil)
        }
        let report = audit.report()
        #expect(report.isClean, "\(report)", sourceLocation: sourceLocation)
        #expect(report.canaryCount >= 4 && report.streamCount >= 14, "\(report)", sourceLocation: sourceLocation)
        let seen = terminals.report()
        #expect(seen.findings.isEmpty, "\(seen)", sourceLocation: sourceLocation)
    }
}
