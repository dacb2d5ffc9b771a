import Foundation
import TestServices
import Testing

/// `latchkey import` from what the real programs wrote.
struct ImportTests {
    private let session: PrivateSession
    private let environment: [String: String]

    init() async throws {
        session = try await PrivateSession(.unlocked)
        var environment = session.environment
        environment["LATCHKEY_KEY_FILE"] = session.directory / "key"
        environment["LATCHKEY_STORE"] = "vault"
        self.environment = environment
        try await latchkey(["vault", "init", "--key-file", session.directory / "key"]).successful("init")
    }

    @discardableResult
    private func latchkey(_ arguments: [String], input: String = "") async throws -> ProgramRun {
        try await BuiltProducts.latchkey().run(arguments, environment: environment, input: Array(input.utf8))
    }

    private func shell(_ script: String, _ extra: [String: String] = [:]) async throws -> ProgramRun {
        var environment = environment.merging(extra) { _, new in new }
        environment["PATH"] = try BuiltProducts.folder() + ":" + Program.searchPath
        return try await Program("/bin/sh").run(
            ["-c", script], environment: environment, folder: session.directory.path)
    }

    @Test func `git's file is taken over, a second time changes nothing, and the file is left`() async throws {
        let file = session.directory / "credentials"
        for (user, password) in [("ada", "p@ss:w/rd%"), ("bob", "two")] {
            try await Program("git").run(
                ["credential-store", "--file", file, "store"], environment: environment,
                input: Array("protocol=https\nhost=example.org:8443\nusername=\(user)\npassword=\(password)\n\n".utf8)
            ).successful("git credential-store")
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let plan = try await latchkey(["import", "--from", "git", file, "--dry-run"])
        #expect(plan.status == 0 && plan.outputText.contains("copied"))
        #expect(try await latchkey(["list"]).outputText.isEmpty)
        let run = try await latchkey(["import", "--from", "git", file])
        #expect(run.status == 0 && run.errorText.contains("in clear"))
        #expect(try await latchkey(["get", "git:https://example.org:8443", "ada"]).outputText == "p@ss:w/rd%")
        #expect(try await latchkey(["get", "git:https://example.org:8443", "bob"]).outputText == "two")
        let again = try await latchkey(["import", "--from", "git", file, "--json"])
        #expect(again.status == 0 && again.outputText.contains(#""result": "same""#))
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == before)
        // Another secret that is there already stays until it is to be replaced.
        try await latchkey(["set", "git:https://example.org:8443", "ada"], input: "newer").successful("set")
        #expect(try await latchkey(["import", "--from", "git", file]).status == 73)
        #expect(try await latchkey(["get", "git:https://example.org:8443", "ada"]).outputText == "newer")
        try await latchkey(["import", "--from", "git", file, "--replace"]).successful("import --replace")
        #expect(try await latchkey(["get", "git:https://example.org:8443", "ada"]).outputText == "p@ss:w/rd%")
    }

    @Test func `Python keyring's plain file is taken over`() async throws {
        let script = """
            import keyrings.alt.file, os
            ring = keyrings.alt.file.PlaintextKeyring()
            ring.set_password('my service/é', 'ada@example.org', 'pässword')
            ring.set_password('long', 'bob', 'x' * 500)
            print(ring.file_path)
            """
        let made = try await Program("/usr/bin/python3").run(["-c", script], environment: environment)
            .successful("keyrings.alt")
        let file = made.outputText.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(file == session.directory / "data/python_keyring/keyring_pass.cfg")
        // It is where it usually is.
        try await latchkey(["import", "--from", "python-keyring"]).successful("import")
        #expect(try await latchkey(["get", "my service/é", "ada@example.org"]).outputText == "pässword")
        #expect(try await latchkey(["get", "long", "bob"]).outputText == String(repeating: "x", count: 500))
    }

    @Test func `libsecret's encrypted file is taken over, with its passphrase and no other`() async throws {
        let file = session.directory / "data/keyrings/default.keyring"
        let backend = [
            "SECRET_BACKEND": "file", "SECRET_FILE_TEST_PATH": file, "SECRET_FILE_TEST_PASSWORD": "correct horse",
        ]
        try await shell("printf hunter2 | secret-tool store --label='My label' service s username ada", backend)
            .successful("secret-tool")
        try await shell("printf '\\377\\000x' | secret-tool store --label=B service s username bytes", backend)
            .successful("secret-tool")
        try await shell("printf other | secret-tool store --label=O user x server y", backend)
            .successful("secret-tool")
        let wrong = try await shell(
            "echo wrong > w; latchkey import --from libsecret-file --import-passphrase-fd 3 3< w")
        #expect(wrong.status == 77 && wrong.errorText.contains("import.wrong-passphrase"))
        #expect(try await latchkey(["list"]).outputText.isEmpty)
        let right = try await shell(
            "echo correct horse > p; latchkey import --from libsecret-file --import-passphrase-fd 3 3< p")
        #expect(right.status == 0, "\(right.errorText)")
        #expect(right.errorText.contains("1 entries are not of a kind"))
        #expect(try await latchkey(["get", "s", "ada"]).outputText == "hunter2")
        #expect(try await latchkey(["get", "s", "bytes"]).output == [0xFF, 0x00, 0x78])
        #expect(try await latchkey(["list"]).outputText.contains("My label"))
        // Any byte of it flipped, or the file cut, is refused and changes nothing.
        let sound = try [UInt8](Data(contentsOf: URL(fileURLWithPath: file)))
        for place in stride(from: 0, to: sound.count, by: max(1, sound.count / 12)) {
            var damaged = sound
            damaged[place] ^= 0x40
            try Data(damaged).write(to: URL(fileURLWithPath: file))
            let run = try await shell("latchkey import --from libsecret-file --import-passphrase-fd 3 3< p")
            #expect([0, 65, 77].contains(run.status), "byte \(place): \(run.errorText)")
            // The attributes' hashes, the time and the count are not read: what they say doesn't matter.
            if run.status == 0 { #expect(run.outputText.contains("same") && !run.outputText.contains("differs")) }
        }
        try Data(sound.prefix(sound.count / 2)).write(to: URL(fileURLWithPath: file))
        let cut = try await shell("latchkey import --from libsecret-file --import-passphrase-fd 3 3< p")
        #expect([65, 77].contains(cut.status), "\(cut.errorText)")
    }

    @Test func `another collection of the keyring is taken over`() async throws {
        try await session.secretTool(
            ["store", "--label=Mine", "service", "s", "username", "ada"], input: Array("hunter2".utf8)
        ).successful("store")
        try await latchkey(["import", "--from", "gnome-keyring-collection", "Login"]).successful("import")
        #expect(try await latchkey(["get", "s", "ada"]).outputText == "hunter2")
        #expect(try await latchkey(["import", "--from", "gnome-keyring-collection", "Nothing"]).status == 69)
        #expect(try await latchkey(["import", "--from", "gnome-keyring-collection"]).status == 64)
    }

    @Test func `gh's file is taken over from where gh keeps it`() async throws {
        try session.directory.makeFolder("config/gh")
        try session.directory.write(
            "config/gh/hosts.yml",
            Array("github.com:\n    user: ada\n    oauth_token: gho_secret\n    git_protocol: https\n".utf8))
        try await latchkey(["import", "--from", "gh"]).successful("import")
        #expect(try await latchkey(["get", "gh:github.com", "ada"]).outputText == "gho_secret")
        #expect(try await latchkey(["import", "--from", "git"]).status == 69)
        #expect(try await latchkey(["import"]).status == 64)
        #expect(try await latchkey(["import", "--from", "nobody"]).status == 64)
    }
}
