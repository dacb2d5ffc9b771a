internal import Foundation
internal import Testing
internal import TestServices

/// What the kernel and other programs see of a running process.
@Suite struct HardeningTests {
    private let directory: TestDirectory
    private let environment: [String: String]

    init() async throws {
        directory = try TestDirectory()
        environment = try directory.environment().merging(["LATCHKEY_KEY_FILE": directory / "key"]) { _, new in new }
        try await BuiltProducts.latchkey().run(
            ["vault", "init", "--key-file", directory / "key"], environment: environment
        ).successful("vault init")
    }

    @Test func `a process that waits for a secret leaves no core, and debuggers can't attach`() async throws {
        let running = try BuiltProducts.latchkey().start(
            ["set", "--store", "vault", "example.org", "alice", "--log-level", "debug"], environment: environment)
        // It says so before it reads the secret.
        try await running.wait(for: "the first log line") { running.errorsSoFar.contains("process hardened") }
        let limits = try String(contentsOfFile: "/proc/\(running.pid)/limits", encoding: .utf8)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").filter { $0 == "0" }.count == 2, "\(core)")
        // A process that isn't dumpable belongs to root in /proc, whoever runs it.
        let owner = try FileManager.default.attributesOfItem(atPath: "/proc/\(running.pid)/mem")[.ownerAccountID]
        #expect(owner as? Int == 0)
        if geteuid() != 0 { #expect(unsafe access("/proc/\(running.pid)/mem", R_OK) != 0) }
        // It starts no program, so none may ever get more rights.
        let status = try String(contentsOfFile: "/proc/\(running.pid)/status", encoding: .utf8)
        #expect(status.contains("NoNewPrivs:\t1\n"))
        running.send(Array("hunter2".utf8))
        let run = try await running.finish()
        #expect(run.status == 0)
    }

    @Test func `child programs get no variable that makes libraries print`() async throws {
        let servers = try await MetadataServer(certificates: CertificateAuthority(in: directory))
        let origin = try #require(servers.environment["SERVER"])
        var environment = environment
        let talkative = [
            "SSLKEYLOGFILE": directory / "keys", "URLSessionDebugLibcurl": "1", "CURL_TRACE": "all",
            "G_DBUS_DEBUG": "all",
            "G_MESSAGES_DEBUG": "all", "MALLOC_TRACE": directory / "malloc",
        ]
        environment.merge(talkative) { $1 }
        environment["HARMLESS"] = "kept"
        let (draft, seen) = (directory / "seen.new", directory / "seen")
        environment["BROWSER"] = try directory.write(
            "browser",
            "#!/bin/sh\n(env; grep NoNewPrivs /proc/self/status) > \(draft)\nmv \(draft) \(seen)\n",
            mode: 0o700)
        try await BuiltProducts.latchkey().run(
            ["provider", "add", "work", "--issuer", origin + "/good", "--client-id", "me"], environment: environment
        ).successful("provider add")
        let running = try BuiltProducts.latchkey().start(
            ["sign-in", "--store", "vault", "work", "--timeout", "20"], environment: environment)
        try await running.wait(for: "the browser") { FileManager.default.fileExists(atPath: directory / "seen") }
        running.kill()
        let variables = String(decoding: try directory.read("seen"), as: UTF8.self).split(separator: "\n")
        #expect(variables.contains("HARMLESS=kept"))
        #expect(variables.contains("SWIFT_BACKTRACE=enable=no"))
        // A browser's sandbox may need setuid: it has no less than this test.
        let own = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
        let line = try #require(variables.first { $0.hasPrefix("NoNewPrivs:") })
        #expect(own.contains(line))
        for name in talkative.keys { #expect(!variables.contains { $0.hasPrefix(name + "=") }, "\(name)") }
        #expect(!FileManager.default.fileExists(atPath: directory / "keys"))
        withExtendedLifetime(servers) {}
    }
}
