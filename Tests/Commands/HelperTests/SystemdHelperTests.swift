import Foundation
import Testing
import TestServices

/// A unit's LoadCredential= with a socket (systemd.exec(5)): systemd is played by a process at an address as systemd's.
@Suite struct SystemdHelperTests {
    private let scene: HelperScene
    private let map: String

    init() async throws {
        scene = try await HelperScene()
        try scene.directory.makeFolder("config/latchkey")
        map = try scene.directory.write(
            "config/latchkey/systemd-credentials",
            "# who may have what\napp.service db example.org ada  # the database\napp.service n example.org a#2\n\nother.service db other.example bob\n"
        )
        try await scene.latchkey("set", "example.org", "ada", input: "s3cret\n")
        try await scene.latchkey("set", "example.org", "a#2", input: "second")
    }

    private func ask(_ address: String, user: Int = 0) async throws -> ProgramRun {
        try await Program("/usr/bin/python3").run(
            [HelperScene.fixture("unit_credential.py"), address, String(user)]
                + [try BuiltProducts.latchkey().path, "helper", "systemd"],
            environment: scene.environment)
    }

    @Test func `a unit gets exactly the credential that its line names`() async throws {
        let run = try await ask("RANDOM/unit/app.service/db")
        guard geteuid() == 0 else {
            #expect(run.status == 77 && run.output.isEmpty && run.errorText.contains("isn't a connection from root"))
            return
        }
        #expect(run.status == 0 && run.outputText == "s3cret\n" && run.errorOutput.isEmpty, "\(run.errorText)")
        // A sign inside a name begins no comment.
        #expect(try await ask("RANDOM/unit/app.service/n").outputText == "second")
    }

    @Test func `other units get nothing, and the journal says why`() async throws {
        for (address, user, status, text) in [
            ("RANDOM/unit/app.service/other", 0, 1, "other of app.service isn't listed in "),
            ("RANDOM/unit/evil.service/db", 0, 1, "db of evil.service isn't listed in "),
            ("RANDOM/unit/other.service/db", 0, 1, "no secret for other.example/bob"),
            ("RANDOM/unit/app.service/db", 65534, 77, "isn't a connection from root"),
            ("RANDOM/unit/app.service", 0, 77, "isn't from systemd on behalf of a unit"),
            ("", 0, 77, "isn't from systemd on behalf"),
            ("RANDOM/unit//db", 0, 77, "isn't from systemd on behalf"),
            ("RANDOM/b/unit/app.service/db", 0, 77, "isn't from systemd"),
        ] as [(String, Int, Int32, String)] {
            let run = try await ask(address, user: user)
            #expect(run.status == status && run.output.isEmpty, "\(address) \(run.errorText)")
            #expect(run.errorText.contains(text) && run.errorText.count { $0 == "\n" } == 1, "\(run.errorText)")
        }
    }

    @Test func `a map that others may write, a link, and a line of another form are refused`() async throws {
        let address = "RANDOM/unit/app.service/db"
        #expect(unsafe chmod(map, 0o666) == 0)
        #expect(try await ask(address).errorText.contains("can be changed by other users"))
        try scene.directory.write("config/latchkey/systemd-credentials", "app.service db example.org\n")
        #expect(try await ask(address).errorText.contains("line 1 of "))
        try FileManager.default.removeItem(atPath: map)
        #expect(try await ask(address).status == 78)
        try scene.directory.write("elsewhere", "app.service db example.org ada\n")
        try FileManager.default.createSymbolicLink(
            atPath: map, withDestinationPath: scene.directory / "elsewhere")
        #expect(try await ask(address).status == 77)
    }

    @Test func `standard input that isn't a socket is refused`() async throws {
        let run = try await scene.helper("latchkey", "helper", "systemd", input: "x")
        #expect(run.status == 77 && run.output.isEmpty)
    }
}
