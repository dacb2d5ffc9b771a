import Foundation
import TestServices
import Testing

/// `latchkey copy` and `move` with what programs keep in a served vault: real clients write it and look for it.
struct KeyringTransferTests {
    private static let other = "other/vault"

    /// A second vault, which opens without a question.
    private func makeOther(_ scene: KeyringScene) async throws {
        try await scene.latchkey("vault", "init", "--vault", Self.other, "--key-file", "other.key").successful("init")
    }

    private func store(
        _ scene: KeyringScene, _ secret: String, _ attributes: String, in vault: String = ""
    ) async throws {
        try await scene.shell(
            "printf \(secret) | latchkey keyring run \(vault) -- secret-tool store --label=Item \(attributes)"
        ).successful("store")
    }

    private func lookup(_ scene: KeyringScene, _ attributes: String, in vault: String = "") async throws -> String {
        try await scene.shell("latchkey keyring run \(vault) -- secret-tool lookup \(attributes)").outputText
    }

    private func results(_ run: ProgramRun) -> [String] {
        run.outputText.split(separator: "\n").dropFirst().compactMap { $0.split(separator: " ").last.map(String.init) }
    }

    @Test func `collections, and items with equal attributes, go along to another vault`() async throws {
        let scene = try await KeyringScene()
        try await makeOther(scene)
        try await scene.shell(
            """
            latchkey keyring run -- python3 -c '
            import secretstorage
            bus = secretstorage.dbus_init()
            work = secretstorage.create_collection(bus, "Work")
            for number in range(2):
                work.create_item("Twin", {"a": "1"}, b"secret %d" % number, replace=False, content_type="image/png")'
            """
        ).successful("python")
        // Listings have things of one label in an order that is each vault's own.
        func listed(_ vault: String...) async throws -> [String] {
            try await scene.shell("latchkey list --items --json \(vault.joined(separator: " "))").outputText
                .split(separator: "\n").map(String.init).sorted()
        }
        let before = try await listed()
        #expect(before.joined().contains("\"collection\": \"Work\"") && before.joined().contains("image/png"))
        let moved = try await scene.latchkey("move", "--from", "vault", "--to", Self.other)
        #expect(moved.status == 0 && results(moved) == ["moved", "moved"], "\(moved.errorText)")
        #expect(try await listed("--vault", Self.other) == before)
        let found = try await scene.shell(
            """
            latchkey keyring run --vault \(Self.other) -- python3 -c '
            import secretstorage
            bus = secretstorage.dbus_init()
            work = [c for c in secretstorage.get_all_collections(bus) if c.get_label() == "Work"][0]
            print(sorted(item.get_secret() for item in work.search_items({"a": "1"})))'
            """)
        #expect(found.outputText == "[b'secret 0', b'secret 1']\n", "\(found.errorText)")
        for vault in [[], ["--vault", Self.other]] as [[String]] {
            let run = try await scene.shell("latchkey vault verify \(vault.joined(separator: " "))")
            #expect(run.status == 0, "\(run.errorText)")
        }
    }

    @Test func `another secret under the same attributes is left alone unless --replace is set`() async throws {
        let scene = try await KeyringScene()
        try await makeOther(scene)
        try await store(scene, "mine", "server git.example")
        try await store(scene, "theirs", "server git.example", in: "--vault \(Self.other)")
        for mode in ["copy", "move"] {
            let run = try await scene.latchkey(mode, "--from", "vault", "--to", Self.other)
            #expect(run.status == 73 && run.errorText.contains("[transfer.differs]"), "\(run.errorText)")
            #expect(results(run) == ["differs"])
        }
        #expect(try await lookup(scene, "server git.example") == "mine")
        #expect(try await lookup(scene, "server git.example", in: "--vault \(Self.other)") == "theirs")
        let replaced = try await scene.latchkey("move", "--from", "vault", "--to", Self.other, "--replace")
        #expect(replaced.status == 0 && results(replaced) == ["replaced"], "\(replaced.errorText)")
        #expect(try await lookup(scene, "server git.example", in: "--vault \(Self.other)") == "mine")
        #expect(
            try await scene.latchkey("list", "--items", "--vault", Self.other, "--json").outputText
                .components(separatedBy: "\"label\"").count == 2)
        #expect(try await lookup(scene, "server git.example") == "")
    }

    @Test func `items go to the desktop's keyring, where their programs find them, and replace no others`() async throws
    {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        try await store(scene, "kept", "server git.example user ada")
        // gnome-keyring's own replacing would take this one for the same.
        try await scene.shell(
            "printf wider | secret-tool store --label=Wider server git.example user ada protocol https"
        ).successful("store")
        try await scene.set("example.org", "ada", "hello")
        let copied = try await scene.latchkey("copy", "--from", "vault", "--to", "secret-service")
        #expect(copied.status == 0, "\(copied.errorText)")
        let again = try await scene.latchkey("copy", "--from", "vault", "--to", "secret-service")
        #expect(results(again).filter { $0 == "same" }.count == 2, "\(again.outputText)")
        let moved = try await scene.latchkey("move", "--from", "vault", "--to", "secret-service")
        #expect(moved.status == 0, "\(moved.errorText)")
        #expect(try await scene.latchkey("list", "--items", "--store", "vault").outputText == "")
        let search = try await scene.shell("secret-tool search --all --unlock server git.example 2>&1")
        #expect(search.outputText.components(separatedBy: "secret = ").count == 3, "\(search.outputText)")
        #expect(search.outputText.contains("secret = kept") && search.outputText.contains("secret = wider"))
        #expect(try await scene.shell("secret-tool lookup service example.org").outputText == "hello")
        // Another secret there is left, and then replaced in its place.
        try await store(scene, "newer", "server git.example user ada")
        let differs = try await scene.latchkey("move", "--from", "vault", "--to", "secret-service")
        #expect(differs.status == 73, "\(differs.outputText)")
        try await scene.latchkey("move", "--from", "vault", "--to", "secret-service", "--replace").successful("move")
        let after = try await scene.shell("secret-tool search --all --unlock server git.example 2>&1").outputText
        #expect(after.contains("secret = newer") && after.contains("secret = wider") && !after.contains("kept"))
    }

    @Test func `other programs' items stay in the desktop's keyring`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        try await scene.shell(
            """
            printf theirs | secret-tool store --label=Theirs server git.example
            printf ours | secret-tool store --label=Ours service a.example username ada
            """
        ).successful("store")
        let moved = try await scene.latchkey("move", "--from", "secret-service", "--to", "vault")
        #expect(moved.status == 0 && results(moved) == ["moved"], "\(moved.errorText)")
        #expect(try await scene.shell("secret-tool lookup server git.example").outputText == "theirs")
        #expect(try await scene.latchkey("list", "--items").outputText == "")
    }

    /// The second would have replaced the first, and both been deleted from the vault.
    @Test func `a keyring gets one of several items with equal attributes, and the others stay in the vault`()
        async throws
    {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        try await scene.shell(
            """
            latchkey keyring run -- python3 -c '
            import secretstorage
            bus = secretstorage.dbus_init()
            collection = secretstorage.get_default_collection(bus)
            for number in range(2):
                collection.create_item("Twin", {"a": "1"}, b"secret %d" % number, replace=False)'
            """
        ).successful("python")
        let moved = try await scene.latchkey("move", "--from", "vault", "--to", "secret-service", "--replace")
        #expect(moved.status == 73 && Set(results(moved)) == ["moved", "differs"], "\(moved.errorText)")
        let secrets = [
            try await scene.shell("secret-tool lookup a 1").outputText, try await lookup(scene, "a 1"),
        ]
        #expect(Set(secrets) == ["secret 0", "secret 1"])
    }

    private static let readings = """
        latchkey keyring run -- python3 -c '
        import secretstorage
        collection = secretstorage.get_default_collection(secretstorage.dbus_init())
        ada = {"service": "example.org", "username": "ada"}
        collection.create_item("Python", {**ada, "application": "Python"}, b"of python", replace=False)
        collection.create_item("Twin", ada, b"of the twin", replace=False)'
        """
    private static let secrets = """
        python3 -c '
        import secretstorage
        collection = secretstorage.get_default_collection(secretstorage.dbus_init())
        print(*sorted(item.get_secret().decode() for item in collection.search_items({"username": "ada"})), sep=", ")'
        """

    /// The twin became the credential, or the credential got another program's item: and one of the secrets was lost.
    @Test(arguments: ["", "--replace"])
    func `a credential and the items that are read as it all arrive in another vault`(_ replace: String) async throws {
        let scene = try await KeyringScene()
        try await makeOther(scene)
        try await scene.set("example.org", "ada", "named")
        try await scene.shell(Self.readings).successful("python")
        for mode in ["copy", "copy", "move"] {
            let run = try await scene.shell("latchkey \(mode) --from vault --to \(Self.other) \(replace)")
            #expect(run.status == 0, "\(run.outputText) \(run.errorText)")
        }
        let there = try await scene.shell("latchkey keyring run --vault \(Self.other) -- \(Self.secrets)")
        #expect(there.outputText == "named, of python, of the twin\n", "\(there.errorText)")
        let read = try await scene.latchkey("get", "example.org", "ada", "--vault", Self.other)
        #expect(read.outputText == "named")
        #expect(try await scene.latchkey("list", "--items").outputText == "")
    }

    @Test(arguments: ["", "--replace"])
    func `a keyring gets only the credential, not the items that are read as it`(
        _ replace: String
    ) async throws {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        try await scene.set("example.org", "ada", "named")
        try await scene.shell(Self.readings).successful("python")
        let run = try await scene.shell("latchkey move --from vault --to secret-service \(replace)")
        #expect(run.status == 73, "\(run.outputText) \(run.errorText)")
        #expect(try await scene.shell(Self.secrets).outputText == "named\n")
        #expect(
            try await scene.latchkey("get", "example.org", "ada", "--store", "secret-service").outputText == "named")
        let rest = try await scene.shell("latchkey keyring run -- \(Self.secrets)")
        #expect(rest.outputText == "of python, of the twin\n", "\(rest.errorText)")
    }

    @Test func `an item that a keyring would read as a sign-in stays in the vault`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        try await store(scene, "planted", "service work username ada latchkey:kind session")
        try await store(scene, "other", "server git.example")
        let moved = try await scene.latchkey("move", "--from", "vault", "--to", "secret-service")
        #expect(moved.status == 0 && moved.errorText.contains("skipped 1 item "), "\(moved.errorText)")
        #expect(try await scene.latchkey("list", "--store", "secret-service").outputText == "")
        #expect(try await lookup(scene, "latchkey:kind session") == "planted")
        #expect(try await scene.shell("secret-tool lookup latchkey:kind session").outputText == "")
        #expect(try await scene.shell("secret-tool lookup server git.example").outputText == "other")
    }

    /// A move of everything took the vault's own key along, into the vault: which then opened with nothing.
    @Test func `a vault's key stays in its keyring`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        try await scene.shell(
            "latchkey vault add-slot desktop --secret-service && latchkey vault remove-slot 'key file' && rm key"
        ).successful("slots")
        try await scene.latchkey("set", "a.example", "ada", "--store", "secret-service", input: "one").successful("set")
        for mode in ["copy", "move"] {
            let run = try await scene.latchkey(mode, "--from", "secret-service", "--to", "vault")
            #expect(run.status == 0 && results(run).count == 1, "\(run.outputText) \(run.errorText)")
        }
        #expect(try await scene.latchkey("get", "a.example", "ada").outputText == "one")
        let none = try await scene.latchkey("move", "--from", "secret-service", "--to", "vault")
        #expect(none.status == 1, "\(none.outputText)")
    }

    /// A move found each secret in the target, and deleted it from the source: which was the same vault.
    @Test func `a served vault isn't moved into itself`() async throws {
        let scene = try await KeyringScene()
        try await scene.set("example.org", "ada", "hello")
        try await store(scene, "wide", "server git.example")
        for (from, to) in [("vault", "secret-service"), ("secret-service", "vault")] {
            for mode in ["copy", "move"] {
                let run = try await scene.shell("latchkey keyring run -- latchkey \(mode) --from \(from) --to \(to)")
                #expect(run.status == 64 && run.errorText.contains("[transfer.same-store]"), "\(run.errorText)")
            }
        }
        #expect(try await scene.latchkey("get", "example.org", "ada").outputText == "hello")
        #expect(try await lookup(scene, "server git.example") == "wide")
        // Nor is it another place, where what is deleted is in the vault still: a hint said so.
        let inside = try await scene.shell(
            """
            latchkey keyring run -- sh -c '
                printf new | latchkey set example.org ada 2> /dev/null; latchkey doctor --verbose | grep "^[a-z]* *stores"' 2>&1
            """)
        #expect(
            inside.outputText == "ok     stores         every credential is in one store only\n", "\(inside.outputText)"
        )
        try await scene.set("example.org", "ada", "hello")
        // With another vault it is two stores.
        try await makeOther(scene)
        let moved = try await scene.shell(
            "latchkey keyring run --vault \(Self.other) -- latchkey move --from vault --to secret-service")
        #expect(moved.status == 0, "\(moved.errorText)")
        #expect(try await lookup(scene, "server git.example", in: "--vault \(Self.other)") == "wide")
    }
}
