import Foundation
import LatchkeyLeakAudit
import LatchkeySecrets
import Testing
import TestServices

/// Runs every command of the program, in success and in failure, at the most talkative log level and in each log
/// format, and searches all that it said and wrote for the secrets it was given.
///
/// Sign-in on a real server has its own audit in `RealServerTests`.
@Suite struct RedactionSweepTests {
    /// One run of the program.
    struct Run {
        let command: String
        let arguments: [String]
        var input: [UInt8] = []
        var environment: [String: String] = [:]
        /// The exit statuses that are right.
        let statuses: Set<Int32>
        /// Its standard output is the secret that was asked for.
        var outputIsSecret = false
    }

    /// The secrets of a sweep, as the bytes that are given to the program.
    struct Canaries {
        let audit: LeakAudit
        let password: [UInt8]
        let other: [UInt8]
        let clientSecret: [UInt8]
        let passphrase: [UInt8]
        let wrongPassphrase: [UInt8]

        init() throws {
            let audit = LeakAudit()
            func planted<Purpose: SecretPurpose>(_ purpose: Purpose.Type) throws -> [UInt8] {
                try audit.plantRandom(purpose).withExposedBytes { bytes in bytes.indices.map { bytes[$0] } }
            }
            self.audit = audit
            password = try planted(Password.self)
            other = try planted(Password.self)
            clientSecret = try planted(ClientSecret.self)
            passphrase = try planted(Passphrase.self)
            wrongPassphrase = try planted(Passphrase.self)
        }

        func plant(key bytes: [UInt8]) throws { try audit.plant(Secret<PrivateKey>(copying: bytes.span)) }
    }

    // MARK: - The sweep

    /// One sweep: a store, and the format of its logs, or all of them in turn.
    struct Sweep: Sendable, CustomTestStringConvertible {
        let store: StoreUnderTest
        let format: String?

        var testDescription: String { "\(store), \(format ?? "all formats")" }

        /// Each command in each format, with one store or the other; `LATCHKEY_LONG=1` has each run with each store in
        /// each format.
        static let all = StoreUnderTest.allCases.flatMap { store in
            let formats: [String?] =
                runsLong ? FlowSession.formats : [nil]
            return formats.map { Sweep(store: store, format: $0) }
        }
    }

    /// Which format each run of a command has: the first, the second and the third of a command have different ones.
    struct Formats {
        private var counts: [String: Int] = [:]
        private let first: Int

        init(_ store: StoreUnderTest) { first = store == .vault ? 0 : 2 }

        mutating func next(_ command: String) -> String {
            let count = counts[command, default: 0]
            counts[command] = count + 1
            return FlowSession.formats[(first + count) % FlowSession.formats.count]
        }
    }

    /// All runs of a sweep, in order, in two parts: the key file of the second would be tried before the passphrases of
    /// the first.
    static func runs(
        _ store: StoreUnderTest, _ canaries: Canaries, _ directory: TestDirectory
    ) throws -> (withPassphrases: [Run], others: [Run]) {
        let signIn = try signInRuns(canaries)
        let others =
            storeRuns(canaries) + helperRuns(canaries) + keyringRuns(canaries) + misplacedRuns(canaries) + signIn
        guard store == .vault else { return ([], others) }
        return (
            try vaultRuns(canaries, directory),
            others + storeRuns(canaries) + helperRuns(canaries) + keyringRuns(canaries) + signIn
        )
    }

    @Test(arguments: Sweep.all)
    func `no command shows or stores a secret in the open`(_ sweep: Sweep) async throws {
        let desktop = sweep.store == .secretService ? try await PrivateSession(.unlocked) : nil
        let directory = try desktop?.directory ?? TestDirectory()
        var environment = try desktop?.environment ?? directory.environment()
        environment["LATCHKEY_STORE"] = sweep.store.rawValue
        let journal = try StandInJournal(at: directory / "journal")
        environment["LATCHKEY_JOURNAL"] = journal.path
        var journalEntryCount = 0
        let canaries = try Canaries()
        let program = try BuiltProducts.latchkey()
        var formats = Formats(sweep.store)
        var number = 0

        func perform(_ run: Run) async throws {
            let words = run.command.split(separator: " ").map(String.init) + run.arguments
            let format = sweep.format ?? formats.next(run.command)
            let result = try await program.run(
                ["--log-level", "trace", "--log-format", format] + words,
                environment: environment.merging(run.environment) { $1 }, input: run.input)
            // Not the arguments: some hold a secret, and the report names the streams.
            number += 1
            let name = "latchkey \(run.command), run \(number)"
            #expect(run.statuses.contains(result.status), "\(name): \(result.status)\n\(result.errorText)")
            canaries.audit.capture(result.errorOutput, as: "standard error of \(name)")
            if !run.outputIsSecret { canaries.audit.capture(result.output, as: "standard output of \(name)") }
            let entries = try journal.take()
            journalEntryCount += entries.count
            canaries.audit.capture(entries.flatMap(\.bytes), as: "journal of \(name)")
            #expect(!result.errorText.contains("there is no systemd journal"), "\(name)")
        }

        let runs = try Self.runs(sweep.store, canaries, directory)
        if sweep.store == .vault {
            try await PassphraseVault.make(canaries.passphrase, at: directory / "second/vault", in: environment)
        }
        for run in runs.withPassphrases { try await perform(run) }
        if sweep.store == .vault {
            let keyFile = directory / "vault.key"
            try await perform(Run(command: "vault init", arguments: ["--key-file", keyFile], statuses: [0]))
            try canaries.plant(key: try directory.read("vault.key"))
            environment["LATCHKEY_KEY_FILE"] = keyFile
        }
        for run in runs.others { try await perform(run) }

        // Everything that the program wrote: vaults, configuration, state, leases.
        for folder in ["home", "data", "config", "state", "cache", "tmp"] {
            try canaries.audit.capture(folder: directory / folder)
        }
        if sweep.store == .vault {
            for folder in ["first", "second"] { try canaries.audit.capture(folder: directory / folder) }
        }
        let report = canaries.audit.report()
        #expect(report.isClean, "\(report)")
        #expect(report.streamCount > 50 && report.byteCount > 10_000)
        #expect(journalEntryCount > 20 || sweep.format == "text" || sweep.format == "json")
    }

    @Test func `the sweep runs every command in every log format`() throws {
        let canaries = try Canaries()
        var seen: [String: Set<String>] = [:]
        for store in StoreUnderTest.allCases {
            var formats = Formats(store)
            let runs = try Self.runs(store, canaries, try TestDirectory())
            for run in runs.withPassphrases + runs.others {
                seen[run.command, default: []].insert(formats.next(run.command))
            }
        }
        #expect(seen.count >= 15)
        for (command, formats) in seen { #expect(formats == Set(FlowSession.formats), "\(command) has \(formats)") }
    }

    @Test func `the sweep has every command of the program`() async throws {
        let directory = try TestDirectory()
        let canaries = try Canaries()
        let swept = Set(
            (Self.storeRuns(canaries) + Self.helperRuns(canaries) + Self.keyringRuns(canaries)
                + (try Self.signInRuns(canaries))
                + (try Self.vaultRuns(canaries, directory)))
                .map(\.command))
        let help = try await BuiltProducts.latchkey().run(["help", "commands"], environment: directory.environment())
        let commands = help.listedCommands
        #expect(commands.count >= 15)
        #expect(Set(commands) == swept)
    }
}
