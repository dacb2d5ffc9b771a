import Foundation
import Testing
import TestServices

/// Which store the program uses, for every combination of what names one and what is there.
struct StoreChoiceTests {
    private static let names: [String?] = [nil, "vault", "secret-service"]

    /// What the environment, the configuration and the memory of an earlier run say.
    struct Naming: Sendable, CustomTestStringConvertible {
        let environment: String?
        let configuration: String?
        let remembered: String?

        var testDescription: String {
            "env \(environment ?? "-"), config \(configuration ?? "-"), memory \(remembered ?? "-")"
        }

        static let all = names.flatMap { one in
            names.flatMap { two in
                names.map { Naming(environment: one, configuration: two, remembered: $0) }
            }
        }
    }

    @Test(arguments: [true, false], [true, false])
    func `Latchkey chooses the named store, then the one used before, then the first that works`(
        hasKeyring: Bool, hasVault: Bool
    ) async throws {
        let session = try await PrivateSession(hasKeyring ? .unlocked : .none)
        var base = session.environment
        base["LATCHKEY_KEY_FILE"] = session.directory / "key"
        if hasVault {
            try await BuiltProducts.latchkey().run(
                ["vault", "init", "--key-file", session.directory / "key"], environment: base
            ).successful("init")
        }
        let works = ["secret-service": hasKeyring, "vault": hasVault]
        let memory = session.directory / "state/latchkey/store"
        try session.directory.makeFolder("state/latchkey")
        try session.directory.makeFolder("config/latchkey")
        for naming in Naming.all {
            var environment = base
            environment["LATCHKEY_STORE"] = naming.environment
            try session.directory.write(
                "config/latchkey/config", Array((naming.configuration.map { "store = \($0)\n" } ?? "").utf8))
            unsafe unlink(memory)
            if let remembered = naming.remembered {
                try session.directory.write("state/latchkey/store", Array("\(remembered)\n".utf8))
            }
            // The bus has a hundredth of the timeout to say whether there is a keyring; the machine may be busy.
            let run = try await BuiltProducts.latchkey().run(
                ["list", "--log-level", "info", "--timeout", "600"], environment: environment)
            let place: Comment = "\(naming.testDescription), keyring \(hasKeyring), vault \(hasVault): \(run.errorText)"
            let named = naming.environment ?? naming.configuration ?? naming.remembered
            let first = ["secret-service", "vault"].first { works[$0] == true }
            guard let expected = named ?? first else {
                #expect(run.status == 69, place)
                #expect(run.errorText.contains("selection.no-store"), place)
                continue
            }
            let source =
                naming.environment != nil
                ? "set in the environment"
                : naming.configuration != nil
                    ? "set in the configuration"
                    : naming.remembered != nil ? "used before" : "the first one that works"
            #expect(run.errorText.contains("store: \(expected) (\(source))"), place)
            #expect(run.status == (works[expected] == true ? 0 : 69), place)
            // A store that was found says why the one before it was not; it alone is remembered.
            if named == nil, expected == "vault" { #expect(run.errorText.contains("refused: secret-service"), place) }
            let kept = try? String(contentsOfFile: memory, encoding: .utf8)
            #expect(kept == (naming.remembered ?? (named == nil ? expected : nil)).map { $0 + "\n" }, place)
            // One that was used before and is gone: a vault can be put back, and the doctor looks for a keyring.
            if source == "used before", run.status != 0 {
                #expect(run.errorText.contains(expected == "vault" ? "move the vault back" : "latchkey doctor"), place)
            }
        }
    }

    // MARK: - Asking

    private func withVault(_ session: PrivateSession) async throws -> [String: String] {
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = session.directory / "key"
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", session.directory / "key"], environment: environment
        ).successful("init")
        return environment
    }

    private func probe(_ environment: [String: String], timeout: String) async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(
            ["list", "--log-level", "info", "--timeout", timeout], environment: environment)
    }

    private func memory(_ session: PrivateSession) -> String? {
        try? String(contentsOfFile: session.directory / "state/latchkey/store", encoding: .utf8)
    }

    /// A day is the longest timeout that there is, so whatever comes back here has waited for none.
    @Test(arguments: ["no address", "no socket", "nobody at the socket", "no service"])
    func `without any store the error comes at once`(_ what: String) async throws {
        let session = try await PrivateSession(.none)
        var environment = try await withVault(session)
        switch what {
        case "no address": environment["DBUS_SESSION_BUS_ADDRESS"] = nil
        case "no socket": environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=" + session.directory / "run/none"
        case "nobody at the socket": await session.killBus()
        default: break
        }
        // GLib would look there next.
        if what == "no address" { environment["XDG_RUNTIME_DIR"] = session.directory / "empty" }
        let run = try await probe(environment, timeout: "86400")
        #expect(run.status == 0, "\(run.errorText)")
        let reason = what == "no service" ? "no keyring is running" : "no session bus"
        #expect(run.errorText.contains("refused: secret-service: \(reason)"), "\(run.errorText)")
        #expect(memory(session) == "vault\n")
    }

    @Test func `a bus that never responds gets 300 ms, a hundredth of the timeout`() async throws {
        let session = try await PrivateSession(.none)
        let environment = try await withVault(session)
        session.suspendBus()
        for (timeout, limit) in [("30", "0.300 s"), ("10", "0.100 s")] {
            let run = try await probe(environment, timeout: timeout)
            #expect(run.status == 0, "\(run.errorText)")
            #expect(
                run.errorText.contains("refused: secret-service: the session bus did not respond within \(limit)"),
                "\(run.errorText)")
            // It may be a moment of much work, so another run looks again.
            #expect(
                run.errorText.contains("using vault only this time, because secret-service did not respond in time"))
            #expect(memory(session) == nil)
        }
    }

    @Test func `Latchkey stops waiting for a silent service, and the next run asks it again`() async throws {
        let session = try await PrivateSession(.none)
        let environment = try await withVault(session)
        let service = try await StandInService(on: session, ["OpenSession": .silence])
        // The bus has 6 s, so that it is the service that is slow; nobody is waited for longer than 10.
        let run = try await probe(environment, timeout: "600")
        #expect(run.status == 0, "\(run.errorText)")
        #expect(run.errorText.contains("refused: secret-service: the keyring service did not respond in time"))
        #expect(service.calls("OpenSession") == 1 && memory(session) == nil)
        await service.stop()
        let successor = try await StandInService(on: session)
        _ = try await probe(environment, timeout: "600")
        #expect(memory(session) == "secret-service\n" && successor.calls("SearchItems") > 0)
    }
}
