import Foundation
import LatchkeySecrets
import LatchkeyTestServer
import Testing
import TestServices

/// What is left of a secret in the memory of a program that has finished its work, searched from outside.
///
/// The program is stopped where it would end; see Fixtures/stop_at_end.c.
@Suite struct MemoryResidueTests {
    /// A library that stops the program it is loaded into.
    struct Brake {
        let path: String

        init() async throws { path = try await SystemCallTests.library("stop_at_end") }

        /// Runs `latchkey` up to its end, lends it stopped there, and lets it end.
        func run(
            _ arguments: [String], environment: [String: String], input: [UInt8] = [],
            planting planted: (file: String, place: Planting)? = nil,
            terminal: PseudoTerminal? = nil, person: (RunningProgram) async throws -> Void = { _ in },
            _ body: (Int32) async throws -> Void
        ) async throws {
            var environment = environment
            environment["LD_PRELOAD"] = [path, environment["LD_PRELOAD"]].compactMap(\.self).joined(separator: ":")
            environment["LATCHKEY_TEST_PLANT"] = planted?.file
            environment["LATCHKEY_TEST_PLANT_PLACE"] = planted?.place.rawValue
            let running = try BuiltProducts.latchkey().start(
                arguments, environment: environment, terminal: terminal)
            running.send(input)
            try await person(running)
            var pid = running.pid
            try await running.wait(for: "its end") {
                pid = running.workingPID
                return try Self.isStopped(pid)
            }
            try await body(pid)
            Foundation.kill(pid, SIGCONT)
            if pid != running.pid {
                try await running.wait(for: "the end of who waited for it") { try Self.isStopped(running.pid) }
                running.signal(SIGCONT)
            }
            let run = try await running.finish()
            #expect(run.status == 0, "latchkey \(arguments): \(run.errorText)")
        }

        private static func isStopped(_ pid: Int32) throws -> Bool {
            try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8).contains(") T ")
        }
    }

    /// Where a test leaves a copy itself.
    enum Planting: String {
        case heap, stack, freed
    }

    static func expectNoPiece(
        of secret: [UInt8], in pid: Int32, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(try ProcessMemory.places(ofPiecesOf: [secret], in: pid) == [[]], sourceLocation: sourceLocation)
    }

    static func random() -> [UInt8] {
        Array(
            (0..<43).map { _ in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".randomElement()! }
                .map(\.asciiValue!))
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a secret that was set, read or replaced leaves nothing outside guarded memory`(store: StoreUnderTest)
        async throws
    {
        let session = try await CommandLineSession(store)
        let brake = try await Brake()
        let (first, second) = (Self.random(), Self.random())
        try await brake.run(["set", "residue", "ada"], environment: session.environment, input: first) { pid in
            try Self.expectNoPiece(of: first, in: pid)
        }
        try await brake.run(["get", "residue", "ada"], environment: session.environment) { pid in
            try Self.expectNoPiece(of: first, in: pid)
        }
        try await brake.run(["set", "residue", "ada"], environment: session.environment, input: second) { pid in
            try Self.expectNoPiece(of: first, in: pid)
            try Self.expectNoPiece(of: second, in: pid)
        }
        if store == .vault {
            let key = try session.directory.read("vault.key")
            try await brake.run(["list"], environment: session.environment) { pid in
                try Self.expectNoPiece(of: key, in: pid)
            }
        }
    }

    /// A call that is bound when it is first made saves all vector registers on the stack, with what the last copy
    /// moved through them (`_dl_runtime_resolve_xsavec`): with 64 bytes of a token on processors with AVX-512, with
    /// fewer on others.
    @Test func `no function of the programs and their libraries waits to be bound at its first call`() async throws {
        let session = try await CommandLineSession(.secretService)
        let brake = try await Brake()
        let script = TestData.folder().appendingPathComponent("Fixtures/unbound_functions.py").path
        try await brake.run(["set", "bound", "ada"], environment: session.environment, input: Self.random()) { pid in
            let unbound = try await Program("python3").run([script, String(pid)])
            #expect(unbound.status == 0 && unbound.outputText == "", "\(unbound.outputText)\(unbound.errorText)")
            // What was loaded while it ran is among them.
            let maps = try String(kernelFile: "/proc/\(pid)/maps")
            #expect(maps.contains("/libsecret-1.so") && maps.contains("/libgio-2.0.so"))
        }
        // The script sees such functions where there are some.
        let lazy = session.directory / "lazy"
        try await Program("gcc").run(
            ["-Wl,-z,lazy", "-o", lazy, "-x", "c", try session.directory.write("lazy.c", Self.lazyProgram)]
        ).successful("gcc")
        let running = try Program(lazy).start([])
        try await running.wait(for: "its first line") { running.outputSoFar.contains("waits") }
        let unbound = try await Program("python3").run([script, String(running.pid)])
        #expect(unbound.outputText.contains("\(lazy) abort\n"), "\(unbound.outputText)\(unbound.errorText)")
        running.kill()
    }

    private static let lazyProgram = """
        #include <stdlib.h>
        #include <unistd.h>
        int main(int count, char **arguments) {
            if (count > 9) abort();
            (void)!write(1, "waits\\n", 6);
            return pause();
        }
        """

    /// Eight bytes are found wherever they are, on another thread's stack too, which is where registers that hold a
    /// secret were saved when a function was bound at its first call; the search for sixteen bytes in order that was
    /// here before saw them on some processors only.
    @Test(arguments: [(Planting.heap, true), (.stack, true), (.freed, false)])
    func `the search finds planted bytes in use, and none of freed memory`(_ place: Planting, isFound: Bool)
        async throws
    {
        let session = try await CommandLineSession(.vault)
        let brake = try await Brake()
        let secret = Self.random()
        let file = try session.directory.write("planted", secret)
        try await brake.run(
            ["set", "residue", "ada"], environment: session.environment, input: secret, planting: (file, place)
        ) { pid in
            let places = try ProcessMemory.places(ofPiecesOf: [secret], in: pid)[0]
            #expect(places.isEmpty != isFound, "\(places)")
        }
    }

    @Test(arguments: StoreUnderTest.allCases)
    func `a sign-in, a request and a refresh leave nothing outside guarded memory`(
        store: StoreUnderTest
    ) async throws {
        let setting = try await RealServerTests.Setting(store, issuer: .brief)
        let terminal = setting.terminal
        let brake = try await Brake()
        var token: [UInt8] = []
        try await brake.run(["sign-in", "work"], environment: terminal.environment) { pid in
            token = try await setting.token()
            let record = try await setting.person.record()
            let code = try #require(record.responded("code"))
            try Self.expectNoPiece(of: token, in: pid)
            try Self.expectNoPiece(of: Array(code.utf8), in: pid)
        }
        let request = ["request", "work", "GET", setting.issuer + "/userinfo"]
        // The server gave it three seconds.
        try await Task.sleep(for: .milliseconds(3100))
        try await brake.run(request, environment: terminal.environment) { pid in
            let refreshed = try await setting.token()
            #expect(refreshed != token)
            try Self.expectNoPiece(of: token, in: pid)
            try Self.expectNoPiece(of: refreshed, in: pid)
        }
    }
    // MARK: - Each secret of each kind of sign-in

    /// Searches for all that a flow handled so far; keys also turned round, as
    /// libcrypto takes numbers, and as the text that a store keeps.
    static func expectNothingLeft(
        of session: FlowSession, in pid: Int32, _ command: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        // What every pushed reference begins with stands in programs (RFC 9126 section 2.2).
        let prefix = Array("urn:ietf:params:oauth:request_uri:".utf8)
        var secrets: [(name: String, bytes: [UInt8])] = session.secrets().map { secret in
            secret.bytes.starts(with: prefix) ? (secret.name, Array(secret.bytes.dropFirst(prefix.count))) : secret
        }
        _ = try await session.storedKeys()
        for key in session.knownKeys {
            secrets += [
                ("key", key), ("key, turned round", key.reversed()),
                ("key, as text", Array(Base64URL.encode(key.span).utf8)),
            ]
        }
        for (secret, places) in zip(secrets, try ProcessMemory.places(ofPiecesOf: secrets.map(\.bytes), in: pid)) {
            #expect(places == [], "\(secret.name) after \(command)", sourceLocation: sourceLocation)
        }
    }

    @Test(arguments: SignInFlow.ofEachSecret)
    func `state, codes, verifiers, keys and tokens of every flow leave nothing outside guarded memory`(
        _ flow: SignInFlow
    ) async throws {
        // Which store has been looked at above; here they take turns.
        let number = SignInFlow.ofEachSecret.firstIndex { $0.testDescription == flow.testDescription } ?? 0
        let session = try await FlowSession(flow, StoreUnderTest.allCases[number % 2])
        let brake = try await Brake()
        let terminal = flow.signedIn == ["--browser"] ? nil : try PseudoTerminal()
        try await brake.run(
            session.signIn, environment: session.environment, terminal: terminal,
            person: { try await session.attend(terminal, $0) }
        ) { pid in try await Self.expectNothingLeft(of: session, in: pid, "sign-in") }
        let names = Set(session.secrets().map(\.name))
        #expect(flow.secretNames.isSubset(of: names), "\(names)")
        #expect(try await session.storedKeys().count == (flow.isBoundToKey ? 1 : 0))
        session.server.expireAccessTokens()
        for command in [session.request, ["sign-out", "work"]] {
            try await brake.run(command, environment: session.environment) { pid in
                try await Self.expectNothingLeft(of: session, in: pid, command[0])
            }
        }
        #expect(session.server.record.refreshes == 1)
    }

    // MARK: - A client's key, and a role's credentials

    /// Starts one of the servers of other tests, and returns its address.
    private func start(_ script: String, _ arguments: String...) async throws -> (RunningProgram, String) {
        let path = TestData.package.appendingPathComponent("Tests/Commands/\(script)").path
        let server = try Program("/usr/bin/python3").start([path] + arguments)
        try await server.wait(for: "its address") { server.outputSoFar.contains("\n") }
        return (server, String(server.outputSoFar.prefix { $0 != "\n" }))
    }

    @Test func `a client's key leaves nothing outside guarded memory after reading, storing and signing`()
        async throws
    {
        let session = try await CommandLineSession(.vault)
        let brake = try await Brake()
        let made = try await Program("/usr/bin/python3").run([
            "-c",
            """
            from cryptography.hazmat.primitives.asymmetric import ec
            from cryptography.hazmat.primitives.serialization import *
            key = ec.generate_private_key(ec.SECP256R1())
            print(key.private_numbers().private_value.to_bytes(32, "big").hex())
            print(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(), end="")
            """,
        ]).successful("python3")
        let lines = made.outputText.split(separator: "\n").map(String.init)
        let scalar = stride(from: 0, to: 64, by: 2).map { UInt8(lines[0].dropFirst($0).prefix(2), radix: 16)! }
        let pem = made.outputText.dropFirst(lines[0].count + 1)
        let (server, address) = try await start(
            "CommandTests/strict_server.py", #"{"methods": ["private_key_jwt"], "openid": false}"#)
        func expectNothing(_ pid: Int32) throws {
            // What stands before the scalar in PKCS #8 is the same in each key.
            for piece in [
                scalar, scalar.reversed(), Array(Base64URL.encode(scalar.span).utf8), Array(lines[3].utf8),
                Array(lines[2].utf8.dropFirst(48)),
            ] { try Self.expectNoPiece(of: piece, in: pid) }
        }
        let add = ["provider", "add", "ci", "--issuer", address, "--client-id", "me", "--client-key-stdin"]
        try await brake.run(
            add + ["--grant", "client-credentials"], environment: session.environment, input: Array(pem.utf8)
        ) { pid in try expectNothing(pid) }
        let point = try await session.run(
            add + ["--grant", "client-credentials", "--force"], input: String(pem)
        ).outputText.replacing("\n", with: "")
        server.type(#"{"jwk": \#(point)}"# + "\n")
        try await server.wait(for: "its change") { server.outputSoFar.contains("changed") }
        try await brake.run(["token", "ci"], environment: session.environment) { pid in try expectNothing(pid) }
        #expect(server.outputSoFar.contains("issued tokens"))
        server.kill()
    }

    @Test func `a role's credentials and their ID token leave nothing outside guarded memory`()
        async throws
    {
        let session = try await CommandLineSession(.vault) {
            let browser = "#!/bin/sh\nexec curl --silent --location --noproxy '*' --output /dev/null \"$1\"\n"
            return ["BROWSER": try $0.write("browser", browser, mode: 0o700)]
        }
        let brake = try await Brake()
        let (server, address) = try await start("CommandTests/strict_server.py", "{}")
        let (service, endpoint) = try await start("HelperTests/Fixtures/sts_server.py", address, "me")
        try await session.run(["sign-in", "work", "--issuer", address, "--client-id", "me", "--scope", "openid"])
        let identity = try await session.run(["token", "work", "--id"], outputIsSecret: true).output
        let command = ["helper", "aws", "work", "--role-arn", "arn:aws:iam::1:role/x", "--sts-endpoint", endpoint]
        var secrets: [[UInt8]] = [identity.suffix(60)]
        for _ in 0..<2 {
            try await brake.run(command, environment: session.environment) { pid in
                if secrets.count == 1 {
                    struct Keys: Decodable { let SecretAccessKey, SessionToken: String }
                    let kept = try await session.run(command, outputIsSecret: true).output
                    let keys = try JSONDecoder().decode(Keys.self, from: Data(kept))
                    secrets += [Array(keys.SecretAccessKey.utf8), Array(keys.SessionToken.utf8)]
                }
                for secret in secrets { try Self.expectNoPiece(of: secret, in: pid) }
            }
        }
        #expect(service.outputSoFar.count { $0 == "\n" } == 2)
        server.kill()
        service.kill()
    }
}
