import Foundation
import Testing
import TestServices

/// Docs/HowTo/server.md, as far as it can run without systemd as the first process: its unit is checked by systemd itself,
/// and its commands run with a key that `systemd-creds` sealed.
///
/// The TPM is left out, as there is none to test with: `--with-key=host` seals with a key of the test's own.
struct HeadlessTests {
    private static let page = "Docs/HowTo/server.md"

    private static func unit() throws -> String {
        let blocks = try Repository.blocks("ini", in: page)
        try #require(blocks.count == 1)
        return blocks[0]
    }

    @Test func `systemd finds nothing wrong with the unit`() async throws {
        let directory = try TestDirectory()
        let verify = { (unit: String) async throws -> ProgramRun in
            let file = try directory.write("report.service", unit, mode: 0o644)
            return try await Program("systemd-analyze").run(
                ["verify", "--man=no", file], environment: directory.environment())
        }
        let sound = try await verify(try Self.unit())
        #expect(sound.status == 0 && sound.errorText.isEmpty, "\(sound.errorText)")
        let faulty = try await verify(
            try Self.unit().replacing("LoadCredentialEncrypted", with: "LoadCredentialSealed"))
        #expect(faulty.errorText.contains("LoadCredentialSealed"), "this check notices nothing")
    }

    @Test func `the page's commands make a vault that opens with a credential that systemd sealed`() async throws {
        let directory = try TestDirectory()
        var environment = try directory.environment()
        environment["PATH"] = try BuiltProducts.searchPath()
        // Or else systemd-creds takes, and makes, the machine's own.
        environment["SYSTEMD_CREDENTIAL_SECRET"] = directory / "host-secret"
        let shell = try Program("/bin/sh")
        func run(_ script: String, extra: [String: String] = [:]) async throws -> ProgramRun {
            try await shell.run(
                ["-euc", script], environment: environment.merging(extra) { $1 }, folder: directory.path)
        }

        let blocks = try Repository.blocks("sh", in: Self.page)
        let sealing = try #require(blocks.first { $0.hasPrefix("mkdir") })
        let here = sealing.replacing("/etc/credstore.encrypted", with: directory / "sealed")
            .replacing("host+tpm2", with: "host")
        try #require(here != sealing)
        try await run(here).successful("sealing")
        let sealed = try directory.read("sealed/latchkey")
        #expect(sealed.count > 100)

        // What systemd does when it starts the unit: the directory 0500, the file 0400, both of the unit's user.
        try await run(
            """
            mkdir -m 700 unit
            systemd-creds decrypt --name=latchkey sealed/latchkey unit/latchkey
            chmod 400 unit/latchkey
            chmod 500 unit
            """
        ).successful("opening")
        var inUnit: [String: String] = [:]
        for line in try Self.unit().matches(of: /(?m)^Environment=([A-Z_]+)=(.*)$/) {
            inUnit[String(line.output.1)] = String(line.output.2).replacing("/var/lib", with: directory / "state")
        }
        try #require(inUnit.keys.sorted() == ["LATCHKEY_VAULT", "XDG_STATE_HOME"])
        let outside = inUnit
        inUnit["CREDENTIALS_DIRECTORY"] = directory / "unit"
        let making = try #require(blocks.first { $0.hasPrefix("as_report()") })
        let commands = making.split(separator: "\n").filter { $0.hasPrefix("as_report ") }
        try #require(commands.count == 2)
        try directory.write("password", "s3cret")
        for command in commands {
            try await run(String(command).replacing("as_report", with: "latchkey"), extra: inUnit).successful(
                "\(command)")
        }
        // The service's own command, up to the program that takes the password.
        let start = try #require(try Self.unit().firstMatch(of: /ExecStart=\/bin\/sh -c '([^|']*)/))
        let answer = try await run(String(start.output.1), extra: inUnit).successful("the service")
        #expect(answer.outputText == "s3cret" && answer.errorText.isEmpty, "\(answer.errorText)")
        // Outside of the unit it stays shut.
        #expect(try await run(String(start.output.1), extra: outside).status == 77)
    }
}
