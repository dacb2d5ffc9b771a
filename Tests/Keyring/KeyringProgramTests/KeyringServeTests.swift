import Foundation
import TestServices
import Testing

/// `latchkey keyring serve` and `status`, on a session bus.
struct KeyringServeTests {
    /// A service that runs until it is told to end.
    private func serve(_ scene: KeyringScene, _ arguments: String...) async throws -> RunningProgram {
        let running = try BuiltProducts.latchkey().start(
            ["keyring", "serve"] + arguments, environment: scene.environment)
        running.closeInput()
        try await running.wait(for: "the service") {
            running.errorsSoFar.contains("serving") || running.errorsSoFar.contains("error")
        }
        return running
    }

    /// A service that has opened its vault, which it does after it says that it serves. Nothing was read from it yet.
    private func serveOpened(_ scene: KeyringScene) async throws -> RunningProgram {
        let service = try await serve(scene)
        try await service.wait(for: "the open vault") {
            try await scene.shell(
                """
                gdbus call --session --dest org.freedesktop.secrets \
                    --object-path /org/freedesktop/secrets/collection/login \
                    --method org.freedesktop.DBus.Properties.Get org.freedesktop.Secret.Collection Locked
                """
            ).outputText.contains("false")
        }
        return service
    }

    @Test func `the session has a keyring until a signal ends it, and status says whose`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let before = try await scene.latchkey("keyring", "status")
        #expect(before.status == 1 && before.outputText.contains("no program"), "\(before.errorText)")
        let service = try await serve(scene)
        try await scene.set("example.org", "ada", "hello")
        #expect(try await scene.shell("secret-tool lookup service example.org").outputText == "hello")
        let reader = try Program("python3").start(
            [
                "-c",
                "import secretstorage, time; b = secretstorage.dbus_init(); list(secretstorage.get_default_collection(b).get_all_items())[0].get_secret(); print('read', flush=True); time.sleep(600)",
            ],
            environment: scene.environment)
        try await reader.wait(for: "a client") { reader.outputSoFar.contains("read") }
        let status = try await scene.latchkey("keyring", "status")
        #expect(status.status == 0 && status.outputText.contains("latchkey (process "), "\(status.errorText)")
        #expect(status.outputText.contains(scene.directory / "data/latchkey/vault"))
        #expect(status.outputText.contains("python3") && status.outputText.contains("(process \(reader.pid))"))
        let json = try await scene.latchkey("keyring", "status", "--json").output
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json)) as? [String: Any])
        #expect(object["locked"] as? Bool == false && (object["clients"] as? [String])?.count == 1)
        kill(service.pid, SIGTERM)
        #expect(try await service.finish().status == 0)
        #expect(try await scene.latchkey("keyring", "status").status == 1)
    }

    @Test func `an open keyring stays open until a program locks it, and is open again once it is unlocked`()
        async throws
    {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        try await scene.set("example.org", "ada", "hello")
        try await scene.replaceKey(with: "words of a passphrase")
        let words = ["LATCHKEY_PASSPHRASE_FILE": try scene.directory.write("words", "words of a passphrase")]
        let lookup = "secret-tool lookup service example.org"
        let service = try await serve(scene, "--no-prompt")
        #expect(try await scene.shell(lookup + " 2>&1").outputText.contains("the vault"))
        try await scene.shell("latchkey vault unlock", words).successful("unlock")
        #expect(try await scene.shell(lookup).outputText == "hello")
        try await scene.latchkey("vault", "lock").successful("lock")
        #expect(try await scene.shell(lookup).outputText == "hello")
        let locked = try await scene.shell("secret-tool lock 2>&1; \(lookup) 2>&1")
        #expect(locked.outputText.contains("the vault") && !locked.outputText.contains("hello"), "\(locked.outputText)")
        #expect(try await scene.latchkey("keyring", "status").outputText.contains("locked"))
        kill(service.pid, SIGTERM)
        #expect(try await service.finish().status == 0)
    }

    @Test func `an address without a listener means that there is no bus, in our words`() async throws {
        let scene = try await KeyringScene()
        for address in ["unix:path=/nowhere/bus", "nonsense", "tcp:host=127.0.0.1,port=1"] {
            for words in ["status", "serve", "serve --replace"] {
                let run = try await scene.shell(
                    "latchkey keyring \(words)", ["DBUS_SESSION_BUS_ADDRESS": address])
                #expect(
                    run.status == 69 && run.errorText.contains("no session bus to connect to [keyring.no-bus]")
                        && run.errorText.contains("latchkey keyring run -- COMMAND"), "\(address): \(run.errorText)")
            }
        }
    }

    /// GLib starts a bus of its own for a display, unless the user's is a socket of the user's.
    @Test func `no bus is started where the user's is a file`() async throws {
        let scene = try await KeyringScene()
        let run = try await scene.shell(
            """
            mkdir fake; printf '#!/bin/sh\ntouch %s\n' $PWD/started > fake/dbus-launch; chmod +x fake/dbus-launch
            touch $XDG_RUNTIME_DIR/bus
            PATH=$PWD/fake:$PATH DISPLAY=:9 latchkey list --store secret-service
            """)
        #expect(run.status == 69, "\(run.errorText)")
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "started"))
    }

    @Test func `serving needs GLib and reports its absence, but doesn't need libsecret`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        for (library, isNeeded) in [("libgio-2.0.so.0", true), ("libsecret-1.so.0", false)] {
            let folder = try scene.directory.makeFolder("without-\(library)")
            try scene.directory.write("without-\(library)/\(library)", "")
            let run = try await scene.shell("latchkey keyring status", ["LD_LIBRARY_PATH": folder])
            let cause = "GLib, which connects to D-Bus, can't be loaded: no libgio-2.0.so.0 [keyring.no-glib]"
            #expect(run.errorText.contains(cause) == isNeeded, "\(run.errorText)")
            #expect(run.status == (isNeeded ? 69 : 1))
        }
    }

    @Test func `an existing keyring is left alone, and the error names it`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        let run = try await serve(scene).finish()
        #expect(run.status == 77 && run.errorText.contains("[keyring.owned]"), "\(run.errorText)")
        #expect(run.errorText.contains("/gnome-keyring-daemon (process ") && run.errorText.contains("--replace"))
        let again = try await serve(scene, "--replace").finish()
        #expect(again.status == 77 && !again.errorText.contains("--replace"), "\(again.errorText)")
        // Another keyring has no use for the terminal.
        let terminal = try PseudoTerminal()
        let agent = try await BuiltProducts.latchkey().start(
            ["keyring", "agent"], environment: scene.environment, terminal: terminal
        ).finish()
        #expect(agent.status == 69 && agent.errorText.contains("[keyring.not-served]"), "\(agent.errorText)")
        let status = try await scene.latchkey("keyring", "status")
        #expect(status.status == 0 && status.outputText.contains("/gnome-keyring-daemon"))
        #expect(!status.outputText.contains("vault"))
    }

    @Test func `keyring serve --replace replaces an earlier service, which ends and says so`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let first = try await serve(scene)
        #expect(try await serve(scene).finish().status == 77)
        let second = try await serve(scene, "--replace")
        let ended = try await first.finish()
        #expect(ended.status == 77 && ended.errorText.contains("[keyring.replaced]"), "\(ended.errorText)")
        kill(second.pid, SIGINT)
        let stopped = try await second.finish()
        #expect(stopped.status == 0, "\(stopped.status) \(stopped.errorText)")
    }

    @Test func `without a vault the service takes the name from no other program`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let first = try await serve(scene)
        let run = try await serve(scene, "--replace", "--vault", scene.directory / "nowhere/vault").finish()
        #expect(run.status == 69 && run.errorText.contains("latchkey vault init"), "\(run.errorText)")
        #expect(try await scene.latchkey("keyring", "status").outputText.contains("(process \(first.pid))"))
        kill(first.pid, SIGTERM)
        #expect(try await first.finish().status == 0)
    }

    @Test func `a missing bus, and the end of the bus, are reported`() async throws {
        let scene = try await KeyringScene()
        let none = try await scene.shell("unset XDG_RUNTIME_DIR; latchkey keyring serve")
        #expect(none.status == 69 && none.errorText.contains("latchkey keyring run -- COMMAND"), "\(none.errorText)")
        let gone = try await scene.latchkey("keyring", "status")
        #expect(gone.status == 69 && gone.errorText.contains("[keyring.no-bus]"), "\(gone.errorText)")
        let session = try await PrivateSession(.none)
        let other = try await KeyringScene(on: session)
        let service = try await serve(other)
        await session.killBus()
        let run = try await service.finish()
        #expect(run.status == 69 && run.errorText.contains("[keyring.bus-lost]"), "\(run.errorText)")
    }

    @Test func `a locked vault tells programs that it is locked, and a registered terminal opens it`() async throws {
        let scene = try await lockedScene()
        let passphrase = "words of a passphrase"
        let service = try await serve(scene, "--vault", scene.directory / "locked/vault", "--no-prompt")
        let refused = try await scene.shell("secret-tool lookup service a")
        #expect(refused.status == 1 && refused.errorText.contains("latchkey vault unlock"), "\(refused.errorText)")
        #expect(try await scene.latchkey("keyring", "status").outputText.contains("locked"))
        // Nobody can be asked: the client hears that at once.
        let nobody = try await scene.shell("printf x | secret-tool store --label=l service a username b")
        #expect(nobody.status != 0)
        #expect(try await scene.latchkey("keyring", "agent").errorText.contains("[keyring.no-terminal]"))
        let terminal = try PseudoTerminal()
        let agent = try BuiltProducts.latchkey().start(
            ["keyring", "agent"], environment: scene.environment, terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitUntilShown("press Ctrl-C to stop")
        // The search waits for the person as well.
        async let stored = scene.shell(
            "secret-tool lookup service a; printf x | secret-tool store --label=l service a username b")
        try await terminal.waitForQuestion("Passphrase of the vault", from: agent)
        for attempt in 2...3 {
            terminal.type("wrong\r")
            try await terminal.waitUntilShown("Wrong passphrase. Try again (\(attempt) of 3).")
            try await terminal.waitForQuestion("(\(attempt) of 3).\r\nPassphrase of the vault", from: agent)
        }
        terminal.type(passphrase + "\r")
        let run = try await stored
        #expect(run.status == 0, "\(run.errorText)")
        #expect(try await scene.shell("secret-tool lookup service a").outputText == "x")
        #expect(try await scene.latchkey("keyring", "status").outputText.contains("open"))
        #expect(!terminal.shown.contains(passphrase))
        kill(agent.pid, SIGINT)
        #expect(try await agent.finish().status == 0)
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// A missing vault was shown as locked, and a damaged one as open.
    @Test(arguments: [
        ("mv $vault away", "mv away $vault"), ("cp $vault copy; truncate -s 5000 $vault", "cp copy $vault"),
    ])
    func `status says that a vault is unavailable, and not that it is locked or open`(
        _ event: String, _ end: String
    ) async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        try await scene.set("example.org", "ada", "hello")
        let service = try await serve(scene)
        let run = try await scene.shell(
            """
            vault=data/latchkey/vault
            for step in true '\(event)' '\(end)'; do
                eval "$step"
                latchkey keyring status | grep -o '^state *[a-z]*'
                latchkey keyring status --json | grep -e locked -e unavailable
            done
            """)
        func shown(_ state: String) -> String {
            """
            state      \(state)
              "locked": false,
              "unavailable": \(state == "unavailable"),

            """
        }
        let expected = shown("open") + shown("unavailable") + shown("open")
        #expect(run.outputText == expected, "\(run.outputText) \(run.errorText)")
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// A vault that a passphrase alone opens, in `locked/vault`.
    private func lockedScene() async throws -> KeyringScene {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        try await PassphraseVault.make(
            "words of a passphrase".utf8, at: scene.directory / "locked/vault", in: scene.environment)
        return scene
    }

    private func agent(_ scene: KeyringScene, _ terminal: PseudoTerminal) throws -> RunningProgram {
        try BuiltProducts.latchkey().start(
            ["keyring", "agent"], environment: scene.environment, terminal: terminal, streamsOnTerminal: true)
    }

    /// The agent asked on, for a client that had gone and for a keyring that had ended.
    @Test func `the agent stops asking when nobody waits for the answer, and Ctrl-C ends it`() async throws {
        let scene = try await lockedScene()
        let service = try await serve(scene, "--vault", scene.directory / "locked/vault", "--no-prompt")
        let terminal = try PseudoTerminal()
        let first = try agent(scene, terminal)
        try await terminal.waitUntilShown("press Ctrl-C to stop")
        let store = ["store", "--label=l", "service", "a"]
        let client = try Program("secret-tool").start(store, environment: scene.environment)
        client.closeInput()
        try await terminal.waitForQuestion("Passphrase of the vault", from: first)
        kill(client.pid, SIGKILL)
        _ = try await client.finish()
        // What is typed goes on unseen: the person may be in the midst of the passphrase.
        let question = "Passphrase of the vault, for /usr/bin/secret-tool: "
        try await terminal.waitUntilShown(question + "\r\n")
        #expect(!terminal.echoes)
        let second = try Program("secret-tool").start(store, environment: scene.environment)
        second.closeInput()
        try await terminal.waitUntilShown(question + "\r\n" + question)
        terminal.type("\u{3}")
        #expect(try await first.finish().status == 0)
        #expect(try await second.finish().status != 0)

        let other = try PseudoTerminal()
        let last = try agent(scene, other)
        try await other.waitUntilShown("press Ctrl-C to stop")
        let third = try Program("secret-tool").start(store, environment: scene.environment)
        third.closeInput()
        try await other.waitForQuestion("Passphrase of the vault", from: last)
        kill(service.pid, SIGTERM)
        #expect(try await last.finish().status == 69)
        try await other.waitUntilShown("the keyring has ended")
        #expect(other.echoes)
        // A client that waits for a prompt doesn't look for the service's end.
        kill(third.pid, SIGKILL)
        _ = try await (service.finish(), third.finish())
    }

    @Test func `the agent has the bus start an enabled keyring, and says where none is`() async throws {
        let scene = try await lockedScene()
        let refused = try await scene.latchkey("keyring", "agent", "--no-prompt")
        #expect(refused.status == 77 && refused.errorText.contains("[prompt.forbidden]"), "\(refused.errorText)")
        let terminal = try PseudoTerminal()
        let none = try await BuiltProducts.latchkey().start(
            ["keyring", "agent"], environment: scene.environment, terminal: terminal
        ).finish()
        #expect(none.status == 69 && none.errorText.contains("[keyring.not-served]"), "\(none.errorText)")
        let running = try Program("dbus-run-session").start(
            [
                "--", "sh", "-c",
                "latchkey keyring enable --vault \(scene.directory / "locked/vault"); latchkey keyring agent",
            ],
            environment: scene.environment, terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitUntilShown("press Ctrl-C to stop")
        terminal.type("\u{3}")
        _ = try await running.finish()
    }

    @Test func `Ctrl-C ends the service at its question, and Ctrl-D leaves the vault locked`() async throws {
        let scene = try await lockedScene()
        func asking(_ terminal: PseudoTerminal) async throws -> RunningProgram {
            let running = try BuiltProducts.latchkey().start(
                ["keyring", "serve", "--vault", scene.directory / "locked/vault"], environment: scene.environment,
                terminal: terminal, streamsOnTerminal: true)
            try await terminal.waitForQuestion("Passphrase of the vault", from: running)
            return running
        }
        let (one, other) = (try PseudoTerminal(), try PseudoTerminal())
        let first = try await asking(one)
        one.type("\u{3}")
        #expect(try await first.finish().status == 130)
        let second = try await asking(other)
        other.type("\u{4}")
        try await other.waitUntilShown("the vault stays locked")
        #expect(other.echoes)
        #expect(try await scene.latchkey("keyring", "status").outputText.contains("locked"))
        // One that hangs is told from another program's, within the time that was given.
        second.signal(SIGSTOP)
        let silent = try await scene.latchkey("keyring", "status", "--timeout", "5")
        #expect(silent.status == 0 && silent.outputText.contains("doesn't respond"), "\(silent.outputText)")
        second.signal(SIGCONT)
        second.signal(SIGTERM)
        #expect(try await second.finish().status == 0)
    }

    @Test func `a bus that refuses the portal's name has the keyring`() async throws {
        let scene = try await KeyringScene()
        let policy = "<deny own=\"org.freedesktop.impl.portal.desktop.latchkey\"/>"
        let run = try await scene.shell(
            """
            sed 's,</busconfig>,<policy context="mandatory">\(policy)</policy></busconfig>,' \
                /usr/share/dbus-1/session.conf > bus.conf
            dbus-run-session --config-file=$PWD/bus.conf -- sh -c '
                latchkey keyring serve & service=$!
                until latchkey keyring status > /dev/null; do sleep 0.1; done
                printf x | secret-tool store --label=l service a username b; secret-tool lookup service a
                kill $service; wait $service'
            """)
        #expect(run.status == 0 && run.outputText == "x", "\(run.outputText) \(run.errorText)")
    }

    @Test func `the service asks for the passphrase at the terminal where it was started`() async throws {
        let scene = try await lockedScene()
        let terminal = try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            ["keyring", "serve", "--vault", scene.directory / "locked/vault"], environment: scene.environment,
            terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitForQuestion("Passphrase of the vault", from: running)
        // The name is taken by then, so that nobody waits for this one to be served.
        #expect(try await scene.latchkey("keyring", "status").status == 0)
        terminal.type("words of a passphrase\r")
        try await eventually("the vault is open") {
            try await scene.shell("printf x | secret-tool store --label=l service a username b").status == 0
        }
        #expect(terminal.echoes)
        kill(running.pid, SIGTERM)
        #expect(try await running.finish().status == 0)
    }

    /// It was of no use until it was started again, and `unlock` didn't help.
    @Test(arguments: [
        (
            "secret-tool lookup service service.example || echo \" locked\"; latchkey keyring status | grep -o \"locked$\"",
            "one locked\nlocked\none"
        ), ("", "oneone"),
    ])
    func `after a rekey the keyring is locked, and vault unlock opens it again`(
        _ meanwhile: String, _ output: String
    ) async throws {
        let scene = try await lockedScene()
        try scene.directory.write("words", "words of a passphrase")
        let lines = """
            export LATCHKEY_VAULT=$PWD/locked/vault LATCHKEY_PASSPHRASE_FILE=$PWD/words
            latchkey vault unlock
            printf one | latchkey set service.example ada
            unset LATCHKEY_PASSPHRASE_FILE
            latchkey keyring serve --no-prompt & service=$!
            until secret-tool lookup service service.example; do sleep 0.1; done
            LATCHKEY_PASSPHRASE_FILE=$PWD/words latchkey vault rekey > rekeyed
            \(meanwhile)
            LATCHKEY_PASSPHRASE_FILE=$PWD/words latchkey vault unlock
            secret-tool lookup service service.example
            latchkey vault lock
            kill $service; wait $service
            """
        let run = try await scene.shell("(\(lines)) 2> errors")
        let errors = try String(contentsOfFile: scene.directory / "errors", encoding: .utf8)
        #expect(run.outputText.hasPrefix(output), "\(run.outputText) \(errors)")
    }

    /// It ended with an error about the keyring's name.
    @Test func `the keyring goes on without the portal's name`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let service = try await serve(scene)
        let taken = try await scene.shell(
            """
            /usr/bin/python3 -c '
            from jeepney import DBusAddress, new_method_call
            from jeepney.io.blocking import open_dbus_connection
            bus = open_dbus_connection("SESSION")
            address = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
            name = "org.freedesktop.impl.portal.desktop.latchkey"
            print(bus.send_and_get_reply(new_method_call(address, "RequestName", "su", (name, 6))).body[0])'
            printf x | secret-tool store --label=l service a username b && secret-tool lookup service a
            """)
        #expect(taken.outputText == "1\nx", "\(taken.outputText) \(taken.errorText)")
        kill(service.pid, SIGTERM)
        #expect(try await service.finish().status == 0)
    }

    @Test func `changes by latchkey are announced on the bus`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let service = try await serve(scene)
        _ = try await scene.shell("secret-tool lookup service none")
        let monitor = try Program("dbus-monitor").start(
            ["--session", "interface='org.freedesktop.Secret.Collection'"], environment: scene.environment)
        try await monitor.wait(for: "the monitor") { monitor.outputSoFar.contains("NameAcquired") }
        try await scene.set("example.org", "ada", "one")
        try await monitor.wait(for: "ItemCreated") { monitor.outputSoFar.contains("ItemCreated") }
        try await scene.set("example.org", "ada", "two")
        try await monitor.wait(for: "ItemChanged") { monitor.outputSoFar.contains("ItemChanged") }
        try await scene.latchkey("delete", "example.org", "ada")
        try await monitor.wait(for: "ItemDeleted") { monitor.outputSoFar.contains("ItemDeleted") }
        #expect(!monitor.outputSoFar.contains("two"))
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// It was `login` until the vault was open: an application got two keys, a collection's items went to another one.
    @Test(arguments: ["starts", "is locked and unlocked"])
    func `the vault's default collection is the default from the first call on after the keyring`(
        _ event: String
    ) async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        var service = try await serve(scene)
        let calls = "/usr/bin/python3 \(TestData.folder().path)/../KeyringServiceTests/call.py"
        let work = "/org/freedesktop/secrets/collection/Work"
        try await scene.shell("\(calls) create-collection Work set-alias default \(work)").successful("set-alias")
        let alias = "\(calls) alias default"
        let ask = "/usr/bin/python3 \(TestData.folder().path)/portal.py org.example.App"
        if event == "starts" {
            // The application's call is the first.
            for script in [alias, ask] {
                kill(service.pid, SIGTERM)
                _ = try await service.finish()
                service = try await serve(scene)
                let first = try await scene.shell(script).successful("first").outputText
                _ = try await scene.shell("secret-tool lookup service none")
                #expect(try await scene.shell(script).outputText == first)
                if script == alias { #expect(first == work + "\n") }
            }
            // It keeps its key.
            let key = try await scene.shell(ask).outputText
            try await scene.shell("\(calls) set-alias default \(work.dropLast(4))login").successful("set-alias")
            #expect(try await scene.shell(ask).outputText == key)
            // Also if another collection gets a second one, as by an import.
            try await scene.shell(
                """
                \(calls) set-alias default \(work) && printf other | secret-tool store --label=Key \
                    --collection=\(work.dropLast(4))login app_id org.example.App xdg:schema org.freedesktop.portal.Secret
                """
            ).successful("store")
            #expect(try await scene.shell(ask).outputText == key)
        } else {
            try await scene.replaceKey(with: "words")
            try await scene.shell("\(calls) lock \(work.dropLast(4))login lock \(work)").successful("lock")
            let other = ["LATCHKEY_PASSPHRASE_FILE": try scene.directory.write("words", "words")]
            try await scene.shell("latchkey vault unlock", other).successful("unlock")
            #expect(try await scene.shell(alias).outputText == work + "\n")
        }
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// It went on with the vault of before until it was started again; also with one that it had opened at its start.
    @Test(arguments: [true, false])
    func `a restored vault is served once the person has accepted it`(afterUse: Bool) async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let vault = "data/latchkey/vault"
        let lookup = "secret-tool lookup service example.org"
        try await scene.set("example.org", "ada", "one")
        try await scene.shell("cp \(vault) copy").successful("cp")
        try await scene.set("example.org", "ada", "two")
        let service = try await serveOpened(scene)
        if afterUse { #expect(try await scene.shell(lookup).outputText == "two") }
        let replaced = try await scene.shell("cp copy \(vault) && \(lookup) 2>&1").outputText
        #expect(replaced.contains("replaced"), "\(replaced) \(service.errorsSoFar)")
        try await scene.shell("latchkey vault accept-rollback").successful("accept-rollback")
        let accepted = try await scene.shell("\(lookup) 2>&1").outputText
        #expect(accepted == "one", "\(accepted) \(service.errorsSoFar)")
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// SQLite doesn't see another file's tables in the same place: each call failed until something was saved.
    @Test func `a vault that was empty for a moment is served again`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let vault = "data/latchkey/vault"
        let lookup = "secret-tool lookup service example.org"
        try await scene.set("example.org", "ada", "one")
        let service = try await serve(scene)
        #expect(try await scene.shell(lookup).outputText == "one")
        try await scene.shell("cp \(vault) copy").successful("cp")
        #expect(try await scene.shell(": > \(vault); \(lookup) 2>&1").outputText.contains("damaged"))
        #expect(try await scene.shell("cp copy \(vault); \(lookup)").outputText == "one")
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// The file that was moved away was read on until something was saved.
    @Test(arguments: [true, false])
    func `a vault that was made anew in the place of another is served`(afterUse: Bool) async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let service = try await serveOpened(scene)
        try await scene.set("example.org", "ada", "one")
        if afterUse { #expect(try await scene.shell("secret-tool lookup service example.org").outputText == "one") }
        try await scene.shell("mv data/latchkey/vault away && latchkey vault init --key-file key").successful("init")
        try await scene.set("example.org", "ada", "two")
        try await service.wait(for: "the new vault's item") {
            try await scene.shell("secret-tool lookup service example.org").outputText == "two"
        }
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// The lock was reported, and forgotten. A passphrase is asked for afterwards.
    @Test(arguments: [true, false], [true, false])
    func `a lock while the vault is away holds when it is back`(afterUse: Bool, withKeyFile: Bool) async throws {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let service = try await serveOpened(scene)
        let calls = "/usr/bin/python3 \(TestData.folder().path)/../KeyringServiceTests/call.py"
        let login = "/org/freedesktop/secrets/collection/login"
        try await scene.set("example.org", "ada", "one")
        if !withKeyFile {
            try await scene.replaceKey(with: "words")
        }
        if afterUse { #expect(try await scene.shell("secret-tool lookup service example.org").outputText == "one") }
        let vault = "data/latchkey/vault"
        let lock = "mv \(vault) away && \(calls) lock \(login) && mv away \(vault)"
        #expect(try await scene.shell(lock).outputText.contains(login))
        #expect(try await scene.shell("\(calls) get \(login) Collection Locked").outputText.contains("True"))
        let unlock = try await scene.shell(
            """
            gdbus call --session --dest org.freedesktop.secrets --object-path /org/freedesktop/secrets \
                --method org.freedesktop.Secret.Service.Unlock "['\(login)']"
            """)
        #expect(unlock.outputText.contains("/prompt/") != withKeyFile, "\(unlock.outputText)\(unlock.errorText)")
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }

    /// It read the descriptor again, which was empty, until it was started anew.
    @Test func `a keyring that was started with a passphrase descriptor is unlocked like any other`() async throws {
        let scene = try await lockedScene()
        let vault = scene.directory / "locked/vault"
        let calls = "/usr/bin/python3 \(TestData.folder().path)/../KeyringServiceTests/call.py"
        let run = try await scene.shell(
            """
            latchkey keyring run --vault \(vault) --passphrase-fd 3 -- sh -c '
                \(calls) lock /org/freedesktop/secrets/collection/login search
                printf "words of a passphrase" > words
                latchkey vault unlock --vault \(vault) --passphrase-fd 4 4< words
                \(calls) search
                latchkey vault lock --vault \(vault)
            ' 3<<< "words of a passphrase"
            """)
        #expect(
            run.outputText.contains("IsLocked the vault is locked: unlock the vault with `latchkey vault unlock"),
            "\(run.outputText)")
        #expect(run.outputText.contains("[] []"), "\(run.outputText) \(run.errorText)")
    }

    @Test func `a sandboxed application has its own permanent key, and gnome-keyring's keys are imported`()
        async throws
    {
        let scene = try await KeyringScene(on: PrivateSession(.none))
        let service = try await serve(scene)
        let script = TestData.folder().appendingPathComponent("portal.py").path
        func key(_ application: String) async throws -> String {
            try await scene.shell("/usr/bin/python3 \(script) \(application)").successful(application).outputText
        }
        let first = try await key("org.example.App")
        #expect(first.count == 129)
        #expect(try await key("org.example.App") == first)
        #expect(try await key("org.example.Other") != first)
        // A program outside a sandbox has none.
        #expect(try await key("''").count == 129)
        // As gnome-keyring keeps it.
        let attributes = "app_id org.example.Moved xdg:schema org.freedesktop.portal.Secret"
        _ = try await scene.shell("printf abc | secret-tool store --label=Key \(attributes)").successful("store")
        #expect(try await key("org.example.Moved") == "616263\n")
        let socket = try await scene.shell("/usr/bin/python3 \(script) socket").successful("socket")
        #expect(socket.outputText == "(0, {})\n\(first)(2, {})\n(2, {})\n")
        let odd = try await scene.shell("/usr/bin/python3 \(script) full").successful("full")
        #expect(odd.outputText == "(2, {})\n(2, {})\nerror\n", "\(odd.outputText)")
        let closed = try await scene.shell("/usr/bin/python3 \(script) closed").successful("closed")
        #expect(closed.outputText == "(2, {})\n", "\(closed.outputText)")
        kill(service.pid, SIGTERM)
        _ = try await service.finish()
    }
}
