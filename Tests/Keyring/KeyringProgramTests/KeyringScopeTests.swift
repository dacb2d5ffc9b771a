import Foundation
import TestServices
import Testing

/// `latchkey keyring run --only`: a keyring on which nothing else exists.
struct KeyringScopeTests {
    private let scene: KeyringScene

    init() async throws {
        scene = try await KeyringScene()
        for (service, account) in [("mine.example", "ada"), ("mine.example", "bob"), ("other.example", "ada")] {
            try await scene.set(service, account, "\(service)/\(account)")
        }
        try await scene.set("git:https://mine.example", "ada", "with slashes")
    }

    private func search(_ only: String, _ then: String) async throws -> String {
        try await scene.shell("latchkey keyring run \(only) -- sh -c '\(then)' 2>&1").outputText
    }

    @Test func `a served keyring shows only the named items, by service or by service and account`() async throws {
        let all = "secret-tool search --all service mine.example; secret-tool search --all service other.example"
        let byService = try await search("--only mine.example", all)
        #expect(byService.contains("secret = mine.example/ada") && byService.contains("secret = mine.example/bob"))
        #expect(!byService.contains("other.example"))
        let byAccount = try await search("--only mine.example/bob --only other.example/eve", all)
        #expect(byAccount.contains("secret = mine.example/bob") && !byAccount.contains("mine.example/ada"))
        #expect(!byAccount.contains("other.example"))
        let slashes = try await search(
            "--only git:https://mine.example", "secret-tool lookup service git:https://mine.example")
        #expect(slashes == "with slashes")
    }

    @Test func `an item that isn't named can't be reached by its path, its collection or its changes`() async throws {
        let path = try await scene.shell(
            """
            latchkey keyring run -- gdbus call --session --dest org.freedesktop.secrets \
                --object-path /org/freedesktop/secrets --method org.freedesktop.Secret.Service.SearchItems \
                '{"service": "other.example"}' | grep -o '/org[^>'"'"']*'
            """
        ).outputText.split(separator: "\n").first.map(String.init)
        let item = try #require(path)
        let run = try await scene.shell(
            """
            latchkey keyring run --only mine.example -- bash -c '
                call() { gdbus call --session --dest org.freedesktop.secrets "$@" 2>&1; }
                call --object-path \(item) --method org.freedesktop.DBus.Properties.GetAll org.freedesktop.Secret.Item
                call --object-path \(item) --method org.freedesktop.Secret.Item.Delete
                call --object-path /org/freedesktop/secrets/collection/login \
                    --method org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Items
                call --object-path /org/freedesktop/secrets --method org.freedesktop.Secret.Service.SearchItems "{}"
                call --object-path /org/freedesktop/secrets/collection/login --method org.freedesktop.DBus.Introspectable.Introspect'
            """)
        let id = item.split(separator: "/").last ?? ""
        #expect(
            run.outputText.contains("UnknownObject") || run.outputText.contains("NoSuchObject"), "\(run.outputText)")
        let told = run.outputText.replacingOccurrences(of: item, with: "")
        #expect(!told.contains(id) && !told.contains("other.example"), "\(told)")
        #expect(try await scene.latchkey("get", "other.example", "ada").outputText == "other.example/ada")
    }

    /// By all methods of the interfaces, and as one that was never there.
    @Test(arguments: ["", "--writable"])
    func `a path to an unnamed item gets the same responses as an invented path`(_ writable: String) async throws {
        try scene.directory.write("scope.py", Self.probe)
        let path = try await scene.shell("latchkey keyring run -- python3 scope.py").outputText
        let item = try #require(path.split(separator: "\n").first)
        let run = try await scene.shell(
            "latchkey keyring run --only mine.example \(writable) -- python3 scope.py \(item)")
        #expect(run.outputText == "the same\nnothing\n", "\(run.outputText) \(run.errorText)")
        #expect(try await scene.latchkey("get", "other.example", "ada").outputText == "other.example/ada")
        #expect(try await scene.latchkey("list", "--items").outputText.contains("latchkey:kind") == !writable.isEmpty)
        #expect(try await scene.latchkey("token", "mine.example").status != 0)
    }

    private static let probe = """
        import sys
        from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
        from jeepney.io.blocking import open_dbus_connection
        root = "/org/freedesktop/secrets"
        login, bus = root + "/collection/login", open_dbus_connection("SESSION")
        def call(path, interface, member, signature="", *body):
            address = DBusAddress(path, "org.freedesktop.secrets", "org.freedesktop." + interface)
            reply = bus.send_and_get_reply(new_method_call(address, member, signature, body), timeout=20)
            if reply.header.message_type == MessageType.error: return reply.header.fields[HeaderFields.error_name]
            return reply.body
        session = call(root, "Secret.Service", "OpenSession", "sv", "plain", ("s", ""))[1]
        item = call(root, "Secret.Service", "SearchItems", "a{ss}", {"service": "other.example"})
        if len(sys.argv) < 2: sys.exit(print(item[0][0]))
        secret = (session, b"", b"changed", "text/plain")
        properties, prefix = "DBus.Properties", "org.freedesktop.Secret."
        def answers(path):
            yield call(root, "Secret.Service", "GetSecrets", "aoo", [path], session)
            yield call(root, "Secret.Service", "Lock", "ao", [path])
            yield call(root, "Secret.Service", "Unlock", "ao", [path])
            yield call(path, "Secret.Item", "GetSecret", "o", session)
            yield call(path, "Secret.Item", "SetSecret", "(oayays)", secret)
            yield call(path, "Secret.Item", "Delete")
            for name in ["Label", "Attributes", "Created", "Modified", "Locked"]:
                yield call(path, properties, "Get", "ss", prefix + "Item", name)
            yield call(path, properties, "GetAll", "s", prefix + "Item")
            yield call(path, properties, "Set", "ssv", prefix + "Item", "Label", ("s", "x"))
            attributes = ("a{ss}", {"service": "mine.example"})
            yield call(path, properties, "Set", "ssv", prefix + "Item", "Attributes", attributes)
            yield call(path, "DBus.Introspectable", "Introspect")
            yield call(path.replace("login", "session"), "Secret.Item", "GetSecret", "o", session)
        made_up = login + "/" + "0123456789abcdef" * 2
        one, other = (repr(list(answers(path))).replace(path, "") for path in (sys.argv[1], made_up))
        print("the same" if one == other else one + other)
        # What may be made is an item of the scope; a kind makes none of it.
        def create(attributes, replace):
            made = {prefix + "Item.Label": ("s", "x"), prefix + "Item.Attributes": ("a{ss}", attributes)}
            return call(login, "Secret.Collection", "CreateItem", "a{sv}(oayays)b", made, secret, replace)
        create({"service": "mine.example", "username": "ada", "latchkey:kind": "session"}, True)
        denied = [create(attributes, replace) for replace in (True, False) for attributes in (
            {}, {"service": "other.example", "username": "ada"}, {"username": "ada"}, {"service": "other"})]
        denied += [
            call(root, "Secret.Service", "CreateCollection", "a{sv}s", {prefix + "Collection.Label": ("s", "x")}, ""),
            call(root, "Secret.Service", "SetAlias", "so", "mine", login), call(login, "Secret.Collection", "Delete"),
            call(login, properties, "Set", "ssv", prefix + "Collection", "Label", ("s", "x"))]
        found = [call(login, "Secret.Collection", "SearchItems", "a{ss}", {"service": "other.example"}), item,
            call(root, "Secret.Service", "SearchItems", "a{ss}", {"service": "other.example"})]
        print("nothing" if not any(isinstance(d, tuple) for d in denied) and found == [([],), ([], []), ([], [])]
            else (denied, found))
        """

    @Test func `changes are refused unless they are allowed, and then only named items change`() async throws {
        let store = "printf new | secret-tool store --label=x service $1 username $2"
        let refused = try await search("--only mine.example", store.replacing("$1", "mine.example", "$2", "ada"))
        #expect(refused.contains("may only read its own items"), "\(refused)")
        #expect(
            try await search("--only mine.example", "secret-tool clear service mine.example").contains("may only read"))
        #expect(try await scene.latchkey("get", "mine.example", "ada").outputText == "mine.example/ada")
        let allowed = try await search(
            "--only mine.example --writable", store.replacing("$1", "mine.example", "$2", "ada"))
        #expect(allowed.isEmpty, "\(allowed)")
        #expect(try await scene.latchkey("get", "mine.example", "ada").outputText == "new")
        let outside = try await search(
            "--only mine.example --writable", store.replacing("$1", "other.example", "$2", "ada"))
        #expect(outside.contains("may only change its own items"), "\(outside)")
        #expect(try await scene.latchkey("get", "other.example", "ada").outputText == "other.example/ada")
        // An item can't be led out of what is named either.
        let moved = try await scene.shell(
            """
            latchkey keyring run --only mine.example --writable -- bash -c '
                item=$(gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
                    --method org.freedesktop.Secret.Service.SearchItems "{\\"username\\": \\"bob\\"}" | grep -o "/org/[a-z0-9/]*[0-9a-f]" | head -n 1)
                gdbus call --session --dest org.freedesktop.secrets --object-path $item \
                    --method org.freedesktop.DBus.Properties.Set org.freedesktop.Secret.Item Attributes \
                    "<{\\"service\\": \\"other.example\\", \\"username\\": \\"bob\\"}>"' 2>&1
            """)
        #expect(moved.outputText.contains("AccessDenied"), "\(moved.outputText)")
    }

    @Test func `collections without named items are absent`() async throws {
        let make = """
            latchkey keyring run -- python3 -c '
            import secretstorage
            bus = secretstorage.dbus_init()
            secretstorage.create_collection(bus, "Private")
            for label, service in [("Other people", "other.example"), ("Shared", "mine.example")]:
                made = secretstorage.create_collection(bus, label)
                made.create_item(label, {"service": service, "username": "eve"}, b"x")'
            """
        try await scene.shell(make).successful("python")
        let labels = """
            import secretstorage
            bus = secretstorage.dbus_init()
            print(sorted(c.get_label() for c in secretstorage.get_all_collections(bus)))
            """
        let all = try await scene.shell("latchkey keyring run -- python3 -c '\(labels)'")
        #expect(
            all.outputText == "['Latchkey', 'Other people', 'Private', 'Session', 'Shared']\n", "\(all.errorText)")
        for (only, shown) in [
            ("mine.example", "'Latchkey', 'Session', 'Shared'"),
            ("mine.example/eve", "'Latchkey', 'Session', 'Shared'"),
            ("mine.example/ada", "'Latchkey', 'Session'"), ("none.example", "'Latchkey', 'Session'"),
        ] {
            let run = try await scene.shell("latchkey keyring run --only \(only) -- python3 -c '\(labels)'")
            #expect(run.outputText == "[\(shown)]\n", "\(only): \(run.errorText)")
        }
    }

    @Test func `Latchkey's own variables are passed on only without a restriction`() async throws {
        let extra = [
            "CREDENTIALS_DIRECTORY": "/x",
            "LATCHKEY_KEY_FILE": scene.directory / "key", "LATCHKEY_COLLECTION": "x", "LATCHKEY_JOURNAL": "/x",
        ]
        let show = "-- sh -c 'env | grep -c -e ^LATCHKEY_ -e ^CREDENTIALS_'"
        #expect(try await scene.shell("latchkey keyring run \(show)", extra).outputText == "5\n")
        #expect(try await scene.shell("latchkey keyring run --only a \(show)", extra).outputText == "0\n")
    }

    @Test func `in bubblewrap the program reaches its own items, but not the vault and other buses`()
        async throws
    {
        // bwrap refuses a capability that Tests/unprivileged passes on.
        let run = try await scene.shell(
            """
            latchkey keyring run --only mine.example/ada -- setpriv --inh-caps=-all --ambient-caps=-all bash -c '
                bus=${DBUS_SESSION_BUS_ADDRESS#unix:path=}; bus=${bus%%,*}
                exec bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
                    --dev /dev --proc /proc --tmpfs /tmp --unshare-pid --new-session --ro-bind "$bus" /tmp/bus \
                    --setenv DBUS_SESSION_BUS_ADDRESS unix:path=/tmp/bus sh -c "
                        secret-tool lookup service mine.example username ada; echo
                        secret-tool lookup service other.example || echo no other
                        test -e \(scene.directory.path) || echo no vault"'
            """)
        #expect(run.outputText == "mine.example/ada\nno other\nno vault\n", "\(run.errorText)")
    }

    @Test func `the log records who read which item, and no secret`() async throws {
        let run = try await scene.shell(
            "latchkey keyring run --log-level info --only mine.example -- secret-tool lookup service mine.example username bob"
        )
        #expect(run.outputText == "mine.example/bob")
        #expect(run.errorText.contains("mine.example: bob was read by "), "\(run.errorText)")
        #expect(run.errorText.contains("secret-tool (process "), "\(run.errorText)")
        #expect(!run.errorText.contains("mine.example/bob"))
    }
}

extension String {
    fileprivate func replacing(_ pairs: String...) -> String {
        var text = self
        for index in stride(from: 0, to: pairs.count, by: 2) {
            text = text.replacingOccurrences(of: pairs[index], with: pairs[index + 1])
        }
        return text
    }
}
