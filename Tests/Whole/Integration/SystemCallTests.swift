import Foundation
import LatchkeyLeakAudit
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestServices

/// What the kernel is handed while a secret is kept, read or earned, as strace(1) sees it.
@Suite struct SystemCallTests {
    /// What was written, sent or executed, by where it went: `write` to which descriptor, `sendto` to which peer.
    struct Trace {
        let calls: [(place: String, bytes: [UInt8])]

        /// Reads strace's lines, those of `latchkey` and not of the programs that it starts:
        /// `123 write(1<pipe:[5]>, "\x68\x69", 2) = 2`.
        init(_ text: String) {
            let lines = text.split(separator: "\n")
            let foreign = Self.foreignProcesses(lines)
            var calls: [(String, [UInt8])] = []
            for (number, line) in lines.enumerated() {
                guard let call = line.firstMatch(of: /^(\d+) +(\w+)\((\d+<[^"]*>)?/) else { continue }
                if let start = foreign[String(call.output.1)], number > start { continue }
                var bytes: [UInt8] = []
                for quoted in line.matches(of: /"((?:\\x[0-9a-f]{2})*)"/) {
                    bytes += quoted.output.1.split(separator: "\\x").compactMap { UInt8($0, radix: 16) } + [0]
                }
                calls.append(("\(call.output.2) \(call.output.3.map(String.init) ?? "")", bytes))
            }
            self.calls = calls
        }

        /// Processes that became other programs, and theirs, with the line from which on they are.
        private static func foreignProcesses(_ lines: [Substring]) -> [String: Int] {
            var foreign: [String: Int] = [:]
            for (number, line) in lines.enumerated() {
                guard let call = line.firstMatch(of: /^(\d+) +execve\("((?:\\x[0-9a-f]{2})*)"/) else { continue }
                let path = call.output.2.split(separator: "\\x").compactMap { UInt8($0, radix: 16) }
                let name = String(decoding: path, as: UTF8.self).split(separator: "/").last ?? ""
                // The last one is the program itself, once more.
                if !name.hasPrefix("latchkey"), name != "exe" { foreign[String(call.output.1)] = number }
            }
            // The lines of a child may come before the one in which its parent learns of it.
            var grown = true
            while grown {
                grown = false
                for line in lines {
                    guard let call = line.firstMatch(of: /^(\d+) +(?:<\.\.\. )?(?:clone3?|v?fork)\b.* = (\d+)$/),
                        foreign[String(call.output.1)] != nil, foreign[String(call.output.2)] == nil
                    else { continue }
                    foreign[String(call.output.2)] = -1
                    grown = true
                }
            }
            return foreign
        }

        /// The places that a secret, in any encoding, was handed to.
        func places(of secret: [UInt8]) throws -> Set<String> {
            // This one alone: proofs and tokens of other kinds are sent too.
            let audit = LeakAudit(knownForms: [])
            try audit.plant(Secret<Password>(copying: secret.span))
            for call in calls { audit.capture(call.bytes, as: call.place) }
            return Set(audit.report().findings.map(\.stream))
        }
    }

    static func library(_ name: String, options: [String] = []) async throws -> String {
        let source = TestData.folder().appendingPathComponent("Fixtures/\(name).c").path
        return try await Program.compile(source, ["-shared", "-fPIC", "-O1"] + options)
    }

    static func trace(
        _ arguments: [String], _ session: CommandLineSession, input: [UInt8] = []
    ) async throws -> (run: ProgramRun, trace: Trace) {
        try await trace(arguments, in: session.directory, session.environment, input: input)
    }

    /// Runs `latchkey` with every call traced that lets bytes out.
    static func trace(
        _ arguments: [String], in directory: TestDirectory, _ environment: [String: String], input: [UInt8] = [],
        terminal: PseudoTerminal? = nil, person: (RunningProgram) async throws -> Void = { _ in }
    ) async throws -> (run: ProgramRun, trace: Trace) {
        let file = directory / "trace"
        var environment = environment
        environment["LD_PRELOAD"] = try await library("stay_dumpable")
        let calls =
            "write,writev,pwrite64,pwritev,sendto,sendmsg,sendmmsg,execve,execveat,sendfile,add_key,memfd_create"
            + ",clone,clone3,fork,vfork"
        let running = try Program("strace").start(
            [
                "-f", "-v", "-yy", "-xx", "-s", "1000000", "-o", file, "-e", "trace=\(calls)",
                BuiltProducts.latchkey().path,
            ]
                + ["--log-level", "trace"] + arguments,
            environment: environment, terminal: terminal)
        running.send(input)
        try await person(running)
        let run = try await running.finish()
        #expect(run.status == 0, "latchkey \(arguments[0]): \(run.errorText)")
        return (run, Trace(String(decoding: try directory.read("trace"), as: UTF8.self)))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a stored secret goes to no program, and a read one goes to standard output alone`(
        store: StoreUnderTest
    ) async throws {
        let session = try await CommandLineSession(store)
        let secret = MemoryResidueTests.random()
        let set = try await Self.trace(["set", "traced", "ada"], session, input: secret).trace
        #expect(set.calls.count > 5)
        #expect(try set.places(of: secret) == [])
        let get = try await Self.trace(["get", "traced", "ada"], session)
        #expect(get.run.output == secret)
        let places = try get.trace.places(of: secret)
        #expect(places.count == 1 && places.allSatisfy { $0.hasPrefix("write 1<") }, "\(places)")
    }

    @Test func `token, code and state of a sign-in go only to the server and the browser`() async throws {
        let setting = try await RealServerTests.Setting(.vault)
        let trace = try await Self.trace(["sign-in", "work"], setting.terminal).trace
        let record = try await setting.person.record()
        let token = try await setting.token()
        for secret in [
            token, Array(try #require(record.responded("code")).utf8),
            Array(try #require(record.responded("state")).utf8),
        ] {
            let places = try trace.places(of: secret)
            // Not one of them is missing: each was sent to somebody. The token wasn't yet: the ID token says who it is.
            #expect(!places.isEmpty || secret == token)
            #expect(places.allSatisfy { $0.contains("<TCP:[127.0.0.1:") }, "\(places)")
        }
        #expect(trace.calls.contains { $0.place.hasPrefix("execve") })
    }

    /// State, codes, verifiers, a device's code, a pushed request's reference and tokens are sent to the server or
    /// shown to the browser, over TCP; a key is handed to nobody.
    @Test(arguments: [SignInFlow.pushedAndBound, .device, .atProtocol])
    func `a flow's secrets go to its servers and its browser alone, and its key to nobody`(
        _ flow: SignInFlow
    ) async throws {
        let session = try await FlowSession(flow, .vault)
        let terminal = flow.signedIn == ["--browser"] ? nil : try PseudoTerminal()
        let signIn = try await Self.trace(
            session.signIn, in: session.directory, session.environment, terminal: terminal,
            person: { try await session.attend(terminal, $0) }
        ).trace
        session.server.expireAccessTokens()
        let request = try await Self.trace(session.request, in: session.directory, session.environment).trace
        let secrets = session.secrets()
        #expect(flow.secretNames.isSubset(of: Set(secrets.map(\.name))))
        for secret in secrets {
            let places = try signIn.places(of: secret.bytes).union(request.places(of: secret.bytes))
            #expect(places.allSatisfy { $0.contains("<TCP:[127.0.0.1:") }, "\(secret.name): \(places)")
            // What was sent is found, so the search works; the rest came from the server alone.
            let isSent = ["state", "code", "code_verifier", "device_code", "refresh_token"].contains(secret.name)
            #expect(!places.isEmpty || !isSent || secret.name == "refresh_token", "\(secret.name)")
        }
        let keys = try await session.storedKeys()
        #expect(keys.count == (flow.isBoundToKey ? 1 : 0))
        for key in keys {
            for form in [key, key.reversed()] {
                #expect(try signIn.places(of: form).union(request.places(of: form)) == [], "the key")
            }
        }
    }

    /// The vault's id, its slots and the kernel's key are looked for first, and the key file is tried then.
    @Test func `a get that finds the key file by itself opens the vault once, and starts no thread`() async throws {
        let session = try await CommandLineSession(.vault)
        try await session.run(["set", "traced", "ada"], input: "secret")
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = nil
        let get = try await Program("strace").run(
            [
                "-f", "-o", session.directory / "trace", "-e", "trace=openat,clone,clone3",
                BuiltProducts.latchkey().path, "get", "traced", "ada",
            ], environment: environment)
        #expect(get.status == 0 && get.outputText == "secret", "\(get.errorText)")
        let calls = String(decoding: try session.directory.read("trace"), as: UTF8.self).split(separator: "\n")
        #expect(calls.count { $0.contains("/latchkey/vault\", ") } == 1)
        #expect(calls.count { $0.contains("/vault.key\", ") } == 1)
        #expect(calls.count { $0.contains(" clone") } == 0)
    }

    // MARK: - A crash

    /// As long as there are messages to servers, the program is ended in the middle of the next one.
    @Test(arguments: [SignInFlow.pushedAndBound, .device])
    func `a crash in the middle of any message of a flow leaves no secret in output, journal or core`(
        _ flow: SignInFlow
    ) async throws {
        let session = try await FlowSession(flow, .vault)
        let folder = try session.directory.makeFolder("crash")
        var environment = session.environment
        environment["LD_PRELOAD"] = try await Self.library("crash_in_request")
        // As talkative as Swift's own report of a crash can be: registers, and the memory that they point to.
        environment["SWIFT_BACKTRACE"] = "enable=yes,registers=all,threads=all,sanitize=no,interactive=no,color=no"
        for command in [session.signIn, session.request, ["sign-out", "work"]] {
            var crashes = 0
            while crashes <= 30 {
                environment["LATCHKEY_TEST_ABORT_AT"] = "\(crashes + 1)"
                let needsPerson = command == session.signIn && flow.signedIn != ["--browser"]
                let terminal = needsPerson ? try PseudoTerminal() : nil
                let running = try BuiltProducts.latchkey().start(
                    session.logging() + command, environment: environment, folder: folder, terminal: terminal)
                try await session.attend(terminal, running)
                let run = try await running.finish()
                try session.note(run, command + ["message \(crashes + 1)"])
                _ = try await session.storedKeys()
                #expect(!run.leftCore)
                #expect(!run.errorText.contains("crashed") && !run.errorText.contains("Registers"), "\(run.errorText)")
                if run.status == 0 { break }
                if run.status == 77 && command == session.request {
                    // The last crash came between the server's new refresh token and the store: what was lost is lost.
                    try await session.signIn()
                    session.server.expireAccessTokens()
                } else {
                    #expect(run.status == 128 + SIGABRT, "\(command[0]), message \(crashes + 1): \(run.errorText)")
                }
                crashes += 1
            }
            #expect((1...30).contains(crashes), "\(command[0])")
            if command == session.signIn { session.server.expireAccessTokens() }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [], "a core was left")
        try session.expectNothingFound()
    }

    /// The same with a server of another make.
    @Test func `a crash in the middle of any message leaves no secret behind`() async throws {
        let setting = try await RealServerTests.Setting(.vault)
        let session = setting.terminal
        try await session.run(["sign-in", "work"])
        let token = try await setting.token()
        let folder = try session.directory.makeFolder("crash")
        var environment = session.environment
        environment["LD_PRELOAD"] = try await Self.library("crash_in_request")
        let audit = LeakAudit()
        try audit.plant(Secret<AccessToken>(copying: token.span))
        let request = ["request", "work", "GET", setting.issuer + "/userinfo"]
        for command in [request, ["sign-in", "work"], ["sign-out", "work"]] {
            var crashes = 0
            while true {
                environment["LATCHKEY_TEST_ABORT_AT"] = "\(crashes + 1)"
                let run = try await BuiltProducts.latchkey().run(
                    ["--log-level", "trace"] + command, environment: environment, folder: folder,
                    timeout: .seconds(120))
                audit.capture(run.errorOutput, as: "standard error of \(command[0]), message \(crashes + 1)")
                if command[0] == "sign-in", let record = try? await setting.person.record() {
                    for value in [record.responded("state"), record.responded("code")].compactMap(\.self) {
                        try audit.plant(Secret<AuthorizationState>(copying: Array(value.utf8).span))
                    }
                }
                if run.status == 0 || crashes > 20 { break }
                #expect(run.status == 128 + SIGABRT, "\(command[0]), message \(crashes + 1): \(run.errorText)")
                #expect(!run.leftCore)
                crashes += 1
            }
            #expect((1...20).contains(crashes), "\(command[0])")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [], "a core was left")
        try audit.capture(folder: session.directory.path + "/data")
        try audit.capture(folder: session.directory.path + "/state")
        let report = audit.report()
        #expect(report.isClean, "\(report)")
        #expect(report.canaryCount >= 3)
    }
}
