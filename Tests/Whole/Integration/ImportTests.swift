import Foundation
import LatchkeyStoreContract
import LatchkeyCredentials
import LatchkeyVault
import Testing
import TestServices

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
        environment["PATH"] = try BuiltProducts.searchPath()
        return try await Program("/bin/sh").run(
            ["-c", script], environment: environment, folder: session.directory.path)
    }

    /// What came after it never moved.
    @Test func `a name with several secrets in the keyring stays there, and holds up no other name`() async throws {
        for service in ["a1", "m1", "z1"] {
            try await latchkey(["set", service, "u", "--store", "secret-service"], input: "own \(service)")
                .successful("set")
        }
        try await session.createItem(
            "Python's", ["service": "m1", "username": "u", "application": "Python keyring library"], "python's")
        let run = try await latchkey(["move", "--from", "secret-service", "--to", "vault"])
        #expect(
            run.status == 73 && run.errorText.contains("1 of 3 credentials stay where they are"), "\(run.errorText)")
        #expect(run.outputText.split(separator: "\n").count { $0.hasSuffix("moved") } == 2, "\(run.outputText)")
        for service in ["a1", "z1"] {
            #expect(try await latchkey(["get", service, "u"]).outputText == "own \(service)")
        }
        #expect(try await session.items().count { $0.secret == "own m1" || $0.secret == "python's" } == 2)
    }

    @Test func `git's file is imported, a second time changes nothing, and the file is left`() async throws {
        let file = session.directory / "credentials"
        for (user, password) in [("ada", "p@ss:w/rd%"), ("bob", "two")] {
            try await Program("git").run(
                ["credential-store", "--file", file, "store"], environment: environment,
                input: Array("protocol=https\nhost=example.org:8443\nusername=\(user)\npassword=\(password)\n\n".utf8)
            ).successful("git credential-store")
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: file))
        let plan = try await latchkey(["import", "--from", "git", file, "--dry-run"])
        #expect(plan.status == 0 && plan.outputText.contains("would copy"))
        #expect(try await latchkey(["list"]).outputText.isEmpty)
        let run = try await latchkey(["import", "--from", "git", file])
        #expect(run.status == 0 && run.errorText.contains("in plain text"))
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

    @Test func `Python keyring's plain file is imported`() async throws {
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

    @Test func `libsecret's encrypted file is imported with its passphrase only`() async throws {
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
        let misplaced = try await shell("latchkey import --from git --import-passphrase-fd 3 3< w")
        #expect(misplaced.status == 64 && misplaced.errorText.contains("is not for git"), "\(misplaced.errorText)")
        let right = try await shell(
            "echo correct horse > p; latchkey import --from libsecret-file --import-passphrase-fd 3 3< p")
        #expect(right.status == 0, "\(right.errorText)")
        #expect(right.errorText.contains("skipped 1 entry"))
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

    /// oo7 has the format of libsecret's file with habits of its own, known from its source: the content type is an
    /// attribute, a file is `keyrings/v1/NAME.keyring`, and a sandbox's passphrase is 64 random bytes. The file is made
    /// here, as no Debian package writes one, with GLib's serialisation of what oo7 describes.
    @Test func `a file as oo7 writes it is imported, bytes and text, with a passphrase of any bytes`() async throws {
        let script = #"""
            import hashlib, hmac, os, sys
            from cryptography.hazmat.primitives import padding
            from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
            from gi.repository import GLib

            passphrase = bytes(range(1, 65))
            salt, iterations = os.urandom(32), 100000
            key = hashlib.pbkdf2_hmac("sha256", passphrase, salt, iterations, 16)
            mac = lambda data: hmac.new(key, data, hashlib.sha256).digest()


            def sealed(attributes, label, secret):
                item = GLib.Variant("(a{ss}sttay)", (attributes, label, 1700000000, 1700000001, secret))
                padder = padding.PKCS7(128).padder()
                plain = padder.update(item.get_data_as_bytes().get_data()) + padder.finalize()
                iv = os.urandom(16)
                encryptor = Cipher(algorithms.AES(key), modes.CBC(iv)).encryptor()
                blob = encryptor.update(plain) + encryptor.finalize() + iv
                hashes = {name: mac(value.encode()) for name, value in attributes.items()}
                return (hashes, blob + mac(blob))


            schema = {"xdg:schema": "org.freedesktop.Secret.Generic"}
            text, octets = {"xdg:content-type": "text/plain"}, {"xdg:content-type": "application/octet-stream"}
            items = [
                sealed({"service": "s", "username": "ada"} | schema | text, "My label", "pässword".encode()),
                sealed({"service": "s", "username": "bytes"} | octets, "B", b"\xff\x00x"),
                sealed({"service": "s", "username": "long"} | text, "L" * 300, b"x" * 70000),
                sealed({"app_id": "org.example.App"} | octets, "Another kind", b"other"),
            ]
            file = GLib.Variant("(uayutua(a{say}ay))", (len(salt), salt, iterations, 1700000002, 4, items))
            with open(sys.argv[1], "wb") as output:
                output.write(b"GnomeKeyring\n\r\0\n\x01\x00" + file.get_data_as_bytes().get_data())
            with open(sys.argv[2], "wb") as output:
                output.write(passphrase)
            """#
        let file = session.directory / "v1.keyring"
        let passphrase = session.directory / "portal"
        try await Program("/usr/bin/python3").run(["-c", script, file, passphrase], environment: environment)
            .successful("write a file as oo7 does")
        let importing = "latchkey import --from libsecret-file '\(file)' --import-passphrase-fd 3"
        let run = try await shell("\(importing) 3< '\(passphrase)'")
        #expect(run.status == 0 && run.errorText.contains("skipped 1 entry"), "\(run.errorText)")
        #expect(try await latchkey(["get", "s", "ada"]).outputText == "pässword")
        #expect(try await latchkey(["get", "s", "bytes"]).output == [0xFF, 0x00, 0x78])
        #expect(try await latchkey(["get", "s", "long"]).outputText == String(repeating: "x", count: 70_000))
        #expect(try await latchkey(["list"]).outputText.contains("My label"))
        let wrong = try await shell("echo wrong > w; \(importing) 3< w")
        #expect(wrong.status == 77 && wrong.errorText.contains("import.wrong-passphrase"))
    }

    @Test func `gnome-keyring's own file is distinguished from libsecret's, and refused`() async throws {
        try session.directory.write("login.keyring", Array("GnomeKeyring\n\r\0\n".utf8) + [0, 0, 0, 0, 0, 0, 0, 0])
        let run = try await shell(
            "echo x > p; latchkey import --from libsecret-file login.keyring --import-passphrase-fd 3 3< p")
        #expect(run.status == 77 && run.errorText.contains("[import.sealed]"), "\(run.errorText)")
        #expect(run.errorText.contains("if a keyring is open, import its collection"))
        // Nobody is asked for the passphrase of a file that can't be read with it.
        let unasked = try await shell("latchkey import --from libsecret-file login.keyring")
        #expect(unasked.errorText.contains("[import.sealed]"), "\(unasked.errorText)")
    }

    @Test func `another collection of the keyring is imported`() async throws {
        try await session.secretTool(
            ["store", "--label=Mine", "service", "s", "username", "ada"], input: Array("hunter2".utf8)
        ).successful("store")
        try await latchkey(["import", "--from", "gnome-keyring-collection", "Login"]).successful("import")
        #expect(try await latchkey(["get", "s", "ada"]).outputText == "hunter2")
        #expect(try await latchkey(["import", "--from", "gnome-keyring-collection", "Nothing"]).status == 69)
        #expect(try await latchkey(["import", "--from", "gnome-keyring-collection"]).status == 64)
    }

    @Test func `other programs' items in a collection, of git, docker, cargo and others, are imported with it`()
        async throws
    {
        let git = try await GitCredentialLibsecret(on: session)
        try await git(
            "store",
            ["protocol": "https", "host": "example.org:8443", "path": "r", "username": "ada", "password": "git's"])
        try await session.createItem(
            "Git: https://newer.example/",
            ["xdg:schema": "org.git.Password", "protocol": "https", "server": "newer.example", "user": "ada"],
            "pass\npassword_expiry_utc=1\noauth_refresh_token=refresh")
        try await session.createItem(
            "git:https://github.com",
            ["xdg:schema": "com.microsoft.GitCredentialManager", "service": "git:https://github.com", "account": "u"],
            "manager's")
        try await session.createItem(
            "https://index.docker.io/v1/",
            [
                "xdg:schema": "io.docker.Credentials", "label": "Docker Credentials",
                "server": "https://index.docker.io/v1/", "username": "u", "docker_cli": "1",
            ], "docker's")
        try await session.createItem(
            "cargo-registry:crates-io",
            ["xdg:schema": "org.rust-lang.cargo.registry", "url": "sparse+https://index.crates.io/"], "cargo's")
        try await session.createItem("L", ["service": "s", "username": "u"], "ours")
        try await session.createItem("L", ["service": "s", "account": "u"], "not ours")
        try await session.createItem("L", ["color": "red"], "unknown")
        let before = try await session.items()

        let run = try await latchkey(["import", "--from", "gnome-keyring-collection", "Login"])
        #expect(run.status == 0, "\(run.errorText)")
        // What isn't imported is named.
        #expect(run.errorText.contains("skipped 2 entries: s/u, of which another secret was imported; 1 item of other"))
        let expected = [
            "git:https://example.org:8443/r ada": "git's", "git:https://newer.example ada": "pass",
            "git:https://github.com u": "manager's", "docker:https://index.docker.io/v1/ u": "docker's",
            "cargo:sparse+https://index.crates.io/ token": "cargo's", "s u": "ours",
        ]
        for (name, secret) in expected {
            let parts = name.split(separator: " ").map(String.init)
            #expect(try await latchkey(["get"] + parts).outputText == secret, "\(name)")
        }
        let listed = try await latchkey(["list"]).outputText.split(separator: "\n")
        #expect(listed.count == expected.count + 1, "with its heading: \(listed)")
        // What was there is as it was.
        #expect(try await session.items().map(\.secret).sorted() == before.map(\.secret).sorted())
        let again = try await latchkey(["import", "--from", "gnome-keyring-collection", "Login"])
        #expect(again.status == 0 && again.outputText.components(separatedBy: "same").count - 1 == expected.count)
    }

    @Test func `a collection moves into a vault unchanged, and searches find its items`() async throws {
        let items: [([String: String], String, String)] = [
            (
                ["xdg:schema": "chrome_libsecret_os_crypt_password_v2", "application": "chrome"], "Chrome Safe Storage",
                "k"
            ),
            (["xdg:schema": "org.gnome.keyring.NetworkPassword", "user": "ada", "server": "example.org"], "Mail", "m"),
            (["service": "s", "username": "ada"], "Mine", "hunter2"),
            (["service": "s", "username": "ada", "application": "Python keyring library"], "Python’s", "python"),
        ]
        for (attributes, label, secret) in items { try await session.createItem(label, attributes, secret) }
        // What no vault takes is left out.
        let many = Dictionary(uniqueKeysWithValues: (0..<65).map { ("name \($0)", "x") })
        for past in [many, ["long": String(repeating: "v", count: 40_000)]] {
            try await session.createItem("Past", past, "past")
        }
        let vaultKey = ["service": "latchkey vault", "username": "v/s", "latchkey:kind": "private-key"]
        try await session.createItem("Key", vaultKey, "key")
        let importing = ["import", "--from", "gnome-keyring-collection", "Login", "--items"]
        let plan = try await latchkey(importing + ["--dry-run"])
        #expect(
            plan.status == 0 && plan.outputText.components(separatedBy: "would copy").count == 5, "\(plan.outputText)")
        #expect(try await latchkey(["list", "--items"]).outputText.isEmpty)

        let run = try await latchkey(importing)
        #expect(run.status == 0 && run.errorText.contains("2 items were skipped"), "\(run.errorText)")
        let again = try await latchkey(importing + ["--json"])
        #expect(again.outputText.components(separatedBy: #""result": "same""#).count == 5, "\(again.outputText)")
        #expect(try await latchkey(["get", "s", "ada"]).outputText == "hunter2")
        // The key of a vault stays in the keyring.
        let listed = try await latchkey(["list", "--all"]).outputText + latchkey(["list", "--items"]).outputText
        #expect(!listed.contains("latchkey vault"), "\(listed)")

        let vault = try await VaultStore.open(
            at: session.directory / "data/latchkey/vault", unlockedBy: .keyFile(session.directory / "key"))
        let store = vault
        for (named, label, secret) in items {
            let wanted = try #require(
                ItemAttributes(named.map { ItemAttributes.Attribute(name: $0.key, value: $0.value) }))
            let found = try await store.search(wanted).filter { $0.label == label }
            #expect(found.count == 1, "\(label)")
            #expect(try await store.text(found[0].id) == secret)
        }
        // Another secret that is there stays until it is to be replaced.
        try await latchkey(["set", "s", "ada"], input: "newer").successful("set")
        let differing = try await latchkey(importing)
        #expect(differing.status == 73 && differing.errorText.contains("1 of 4 items"), "\(differing.errorText)")
        #expect(try await latchkey(["get", "s", "ada"]).outputText == "newer")
        #expect(try await latchkey(importing + ["--replace"]).status == 0)
        #expect(try await latchkey(["get", "s", "ada"]).outputText == "hunter2")

        let wrong = try await latchkey(["import", "--from", "git", "--items"])
        #expect(wrong.status == 64 && wrong.errorText.contains("usage.bad-value"), "\(wrong.errorText)")
        let keyring = try await latchkey(importing + ["--store", "secret-service"])
        #expect(keyring.status == 64 && keyring.errorText.contains("usage.not-a-vault"), "\(keyring.errorText)")
    }

    @Test func `gh's file is imported from gh's own place`() async throws {
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
