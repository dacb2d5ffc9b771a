import Foundation
import LatchkeyCredentials
import LatchkeySecrets
import LatchkeyVault
import TestServices
import Testing

/// `latchkey keyring run`: a program with the vault as its keyring, on a bus of its own.
struct KeyringRunTests {
    @Test func `a program finds the vault's items, and its own items stay`() async throws {
        let scene = try await KeyringScene()
        try await scene.set("example.org", "ada", "hello")
        let run = try await scene.shell(
            """
            latchkey keyring run -- sh -c '
                secret-tool lookup service example.org; echo
                printf made | secret-tool store --label=Made service made.example username bob
                printf wide | secret-tool store --label=Wide server git.example user ada protocol https
                exit 7'
            """)
        #expect(run.status == 7 && run.outputText == "hello\n", "\(run.errorText)")
        #expect(try await scene.latchkey("get", "made.example", "bob").outputText == "made")
        let later = try await scene.shell("latchkey keyring run -- secret-tool lookup server git.example")
        #expect(later.outputText == "wide", "\(later.errorText)")
        #expect(try await scene.latchkey("vault", "verify").status == 0)
    }

    @Test func `Latchkey's own sessions, keys and client secrets aren't served`() async throws {
        let scene = try await KeyringScene()
        try await scene.set("example.org", "ada", "hello")
        let vault = try await VaultStore.open(
            at: scene.directory / "data/latchkey/vault", unlockedBy: .keyFile(scene.directory / "key"))
        for kind in [CredentialKind.session, .privateKey, .clientSecret, .current] {
            try await vault.save(
                Secret<Password>(copying: Array("own".utf8).span),
                for: CredentialKey(service: "latchkey:work", account: "app", kind: kind))
        }
        let run = try await scene.shell("latchkey keyring run -- secret-tool search --all --unlock xdg:none none")
        #expect(run.outputText.isEmpty)
        let all = try await scene.shell(
            """
            latchkey keyring run -- gdbus call --session --dest org.freedesktop.secrets \
                --object-path /org/freedesktop/secrets --method org.freedesktop.Secret.Service.SearchItems '{}'
            """)
        #expect(all.outputText.components(separatedBy: "/collection/login/").count == 2, "\(all.outputText)")
    }

    @Test func `the bus and the keyring end with the program, however it ends`() async throws {
        let scene = try await KeyringScene()
        for ending in ["exit 0", "kill -KILL $$", "kill -TERM $$"] {
            let run = try await scene.shell(
                "latchkey keyring run -- bash -c 'echo $DBUS_SESSION_BUS_ADDRESS; echo $$ > pid; \(ending)'")
            let address = run.outputText.prefix { $0 != "," }.dropFirst("unix:path=".count)
            #expect(address.hasPrefix(scene.directory / "run/latchkey-bus-"), "\(run.errorText)")
            let folder = String(address).replacingOccurrences(of: "/bus\n", with: "").replacingOccurrences(
                of: "/bus", with: "")
            try await eventually("the bus of \(ending) ended") {
                !FileManager.default.fileExists(atPath: folder)
            }
            try await eventually("its processes ended") { try await !scene.isRunning(folder) }
        }
    }

    /// A service that a message had ended left its folder behind, once for each run.
    @Test(arguments: ["ILL", "KILL", "TERM"]) func `the bus and its folder end when a signal ends the service`(
        signal: String
    ) async throws {
        let scene = try await KeyringScene()
        let run = try await scene.shell(
            """
            latchkey keyring run -- bash -c '
                reply=$(gdbus call --session --dest org.freedesktop.DBus --object-path / \
                    --method org.freedesktop.DBus.GetConnectionUnixProcessID org.freedesktop.secrets)
                reply=${reply#*uint32 }
                kill -\(signal) ${reply%,*}
                while [ "$(ls $XDG_RUNTIME_DIR)" ]; do sleep 0.02; done
                echo gone'
            """)
        #expect(run.outputText == "gone\n", "\(run.errorText)")
        try await eventually("its processes ended") { try await !scene.isRunning(scene.directory / "run") }
    }

    @Test func `keyring run becomes the program, with its process, signals, descriptors and status`() async throws {
        let scene = try await KeyringScene()
        let running = try BuiltProducts.latchkey().start(
            [
                "keyring", "run", "--", "bash", "-c",
                "trap 'echo got; exit 5' TERM; echo $$; while :; do sleep 0.05; done",
            ],
            environment: scene.environment)
        try await running.wait(for: "the program") { running.outputSoFar.contains("\n") }
        #expect(running.outputSoFar == "\(running.pid)\n")
        kill(running.pid, SIGTERM)
        let run = try await running.finish()
        #expect(run.status == 5 && run.outputText.hasSuffix("got\n"))
        // A program may wait for all its children: the service is none of them.
        let waiting = try await scene.shell(
            """
            latchkey keyring run -- python3 -c '
            import os
            try:
                os.wait()
            except ChildProcessError:
                print("no child")'
            """)
        #expect(waiting.outputText == "no child\n", "\(waiting.errorText)")
        // Nothing of ours holds the program's pipes.
        let piped = try await scene.shell("latchkey keyring run -- bash -c 'exec 3<&-; ls /proc/$$/fd' | tr '\\n' ' '")
        #expect(piped.outputText.split(separator: " ").count <= 5, "\(piped.outputText)")
    }

    @Test func `keyring run asks for the passphrase before the program starts, and then the program has the terminal`()
        async throws
    {
        let scene = try await KeyringScene(passphrase: "words of a passphrase")
        let terminal = try PseudoTerminal()
        let running = try BuiltProducts.latchkey().start(
            ["keyring", "run", "--", "sh", "-c", "echo started; read line; echo \"got $line\""],
            environment: scene.environment, terminal: terminal, streamsOnTerminal: true)
        try await terminal.waitForQuestion("Passphrase of the vault", from: running)
        #expect(!terminal.shown.contains("started"))
        terminal.type("words of a passphrase\r")
        try await terminal.waitUntilShown("started")
        #expect(terminal.echoes)
        terminal.type("a line\r")
        try await terminal.waitUntilShown("got a line")
        #expect(try await running.finish().status == 0)
        #expect(!terminal.shown.contains("words of"))
    }

    @Test func `the question ends with the process that was to become the program`() async throws {
        let scene = try await KeyringScene(passphrase: "words of a passphrase")
        let terminal = try PseudoTerminal()
        // The terminal is the shell's, and stays.
        let script = "latchkey keyring run -- touch $NAME & echo $! > pid; wait; read line"
        let name = "started-\(getpid())"
        let running = try Program("bash").start(
            ["-c", script], environment: scene.environment.merging(["NAME": name]) { $1 }, folder: scene.directory.path,
            terminal: terminal,
            streamsOnTerminal: true)
        try await terminal.waitForQuestion("Passphrase of the vault", from: running)
        try await eventually("the shell wrote the process") { (try? scene.directory.read("pid").last) == 0x0A }
        let process = try #require(Int32(String(decoding: try scene.directory.read("pid").dropLast(), as: UTF8.self)))
        kill(process, SIGKILL)
        try await eventually("the service ended") { try await !scene.isRunning("touch \(name)") }
        #expect(terminal.echoes && terminal.sendsSignals)
        terminal.type("\n")
        _ = try await running.finish()
        #expect(!FileManager.default.fileExists(atPath: scene.directory / name))
    }

    /// GLib's sockets have a process ignore SIGPIPE, and a program that was started with that never ended by it.
    @Test func `a program that is started from a keyring's secrets ignores the signals that were ignored before`()
        async throws
    {
        let scene = try await KeyringScene()
        try await scene.set("example.org", "ada", "hello")
        let run = try await scene.shell(
            """
            latchkey keyring run -- bash -c '
                show() { latchkey run --store secret-service --env A=example.org/ada "$@" -- grep SigIgn /proc/self/status; }
                show; show --mask
                latchkey run --store secret-service --env A=example.org/ada -- \
                    bash -c "yes | head -n 1; echo \\${PIPESTATUS[0]}"
                trap "" QUIT; show' | sed 's/SigIgn:.*\\(.......\\)$/\\1/'
            """)
        #expect(run.outputText == "0000000\n0000000\ny\n141\n0000004\n", "\(run.outputText) \(run.errorText)")
    }

    /// The vault's only key was an item in the vault.
    @Test func `no vault gets a key in the keyring that is served from it`() async throws {
        let scene = try await KeyringScene()
        for words in ["add-slot desk --secret-service --replace \"key file\"", "export backup --secret-service"] {
            let run = try await scene.shell("latchkey keyring run -- latchkey vault \(words)")
            #expect(run.errorText.contains("the keyring is served from this vault"), "\(run.errorText)")
        }
        #expect(try await scene.latchkey("list", "--items").outputText == "")
        #expect(try await scene.latchkey("vault", "slots").outputText.contains("key file"))
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "backup"))
    }

    @Test func `no program listens to another's messages`() async throws {
        let scene = try await KeyringScene()
        try await scene.set("example.org", "ada", "hello")
        let run = try await scene.shell(
            """
            latchkey keyring run -- sh -c '
                dbus-monitor --session > seen 2> errors & monitor=$!
                until grep -q NameAcquired seen; do sleep 0.05; done
                secret-tool lookup service example.org
                kill $monitor; wait $monitor; grep -c OpenSession seen'
            """)
        #expect(run.outputText == "hello0\n", "\(run.outputText) \(run.errorText)")
    }

    @Test func `what the program is given asks Latchkey for nothing`() async throws {
        let scene = try await KeyringScene()
        for words in ["keyring run nonexistent --json", "--timeout 9 run nonexistent true --json"] {
            let run = try await scene.shell("latchkey \(words)")
            #expect(run.status != 0 && run.errorText.hasPrefix("latchkey: error: "), "\(run.errorText)")
        }
    }

    @Test func `errors are reported before the program starts`() async throws {
        let scene = try await KeyringScene(passphrase: "words of a passphrase")
        let locked = try await scene.shell("latchkey keyring run --no-prompt -- touch started")
        #expect(locked.status == 77 && locked.errorText.contains("[store.locked]"), "\(locked.errorText)")
        let open = ["LATCHKEY_PASSPHRASE_FILE": scene.directory / "words"]
        let missing = try await scene.shell("latchkey keyring run -- no-such-program", open)
        #expect(missing.status == 127 && missing.errorText.contains("[run.not-found]"))
        let bare = try await scene.shell(
            """
            mkdir bare; ln -s "$(command -v latchkey)" "$(command -v touch)" bare
            PATH=$PWD/bare latchkey keyring run -- touch started
            """, open)
        #expect(bare.status == 69 && bare.errorText.contains("[keyring.no-dbus-daemon]"), "\(bare.errorText)")
        let none = try await scene.shell("latchkey keyring run --vault nowhere/vault -- touch started", open)
        #expect(none.status == 69 && none.errorText.contains("latchkey vault init"), "\(none.errorText)")
        let usage = try await scene.shell("latchkey keyring run --writable -- touch started", open)
        #expect(usage.status == 64 && usage.errorText.contains("--only"), "\(usage.errorText)")
        #expect(try await scene.shell("latchkey keyring run", open).status == 64)
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "started"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.directory / "run").isEmpty)
    }

    /// As after su(1), and in a container that was given its starter's variables.
    @Test func `a missing, long or foreign runtime directory is no obstacle`() async throws {
        let scene = try await KeyringScene()
        try await scene.set("example.org", "ada", "hello")
        let long = try scene.directory.makeFolder(String(repeating: "long/", count: 20))
        var folders = [scene.directory / "nowhere", long]
        if geteuid() == 0 {
            // Its owner could put another bus in the place of ours.
            folders.append(try scene.directory.makeFolder("foreign"))
            try await Program("chown").run(["nobody", folders[2]]).successful("chown")
        }
        for folder in folders {
            let run = try await scene.shell(
                "latchkey keyring run -- sh -c 'secret-tool lookup service example.org; echo; echo $DBUS_SESSION_BUS_ADDRESS'",
                ["XDG_RUNTIME_DIR": folder])
            #expect(run.outputText.hasPrefix("hello\nunix:path=/tmp/latchkey-bus-"), "\(folder) \(run.errorText)")
            let bus = try #require(run.outputText.firstMatch(of: #//tmp/latchkey-bus-\w+/#)).output
            try await eventually("the bus ended") { !FileManager.default.fileExists(atPath: String(bus)) }
        }
    }

    @Test func `an open vault appears open before the first request`() async throws {
        let scene = try await KeyringScene()
        for only in ["", "--only a.example"] {
            let run = try await scene.shell("latchkey keyring run \(only) -- latchkey keyring status")
            #expect(run.outputText.contains("state      open"), "\(run.outputText) \(run.errorText)")
        }
    }

    @Test func `only a vault can be served`() async throws {
        let scene = try await KeyringScene()
        for words in [["run", "--", "touch", "started"], ["serve"], ["enable"]] {
            let run = try await BuiltProducts.latchkey().run(
                ["keyring", "--store", "secret-service"] + words, environment: scene.environment,
                folder: scene.directory.path)
            #expect(run.status == 64, "\(words): \(run.errorText)")
        }
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "started"))
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "config/systemd"))
    }

    @Test func `Latchkey waits for a silent dbus-daemon until the deadline, and ends it`() async throws {
        let scene = try await KeyringScene()
        let run = try await scene.shell(
            """
            mkdir fake; printf '#!/bin/sh\necho $$ > pid\ntrap "" TERM\nwhile :; do sleep 0.1; done\n' > fake/dbus-daemon
            chmod +x fake/dbus-daemon
            PATH=$PWD/fake:$PATH latchkey keyring run --timeout 5 -- touch started
            """)
        #expect(run.status == 75 && run.errorText.contains("[keyring.bus-timed-out]"), "\(run.errorText)")
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "started"))
        let text = String(decoding: try scene.directory.read("pid"), as: UTF8.self)
        let process = try #require(Int32(text.dropLast()))
        try await eventually("it has ended") { kill(process, 0) != 0 }
        #expect(try FileManager.default.contentsOfDirectory(atPath: scene.directory / "run").isEmpty)
    }

    /// The keyring that has the key might be the one that is to be served.
    /// The program, which --only holds to one service, could read the vault's passphrase by its number.
    @Test func `the program doesn't inherit the descriptor with the passphrase, and the service closes it`()
        async throws
    {
        let scene = try await KeyringScene(passphrase: "words of a passphrase")
        let file = try scene.directory.write("held", "words of a passphrase", mode: 0o600)
        let run = try await scene.shell(
            """
            latchkey keyring run --only a.example --passphrase-fd 3 -- sh -c '
                cat <&3 2> /dev/null && echo open
                for process in $(pgrep -f latchkey-keyring-session); do ls -l /proc/$process/fd 2> /dev/null; done
                echo ended' 3< held
            """)
        #expect(run.outputText.hasSuffix("ended\n") && !run.outputText.contains("open\n"), "\(run.errorText)")
        #expect(!run.outputText.contains("passphrase") && !run.outputText.contains(file), "\(run.outputText)")
    }

    @Test func `a vault whose key is only in a keyring is refused without waiting`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        try await scene.shell(
            """
            latchkey vault add-slot desktop --secret-service; latchkey vault remove-slot 'key file' || exit 1
            printf s3cret | latchkey set example.org ada; rm key
            """
        ).successful("slots")
        #expect(try await scene.latchkey("get", "example.org", "ada").outputText == "s3cret")
        let run = try await scene.latchkey("keyring", "run", "--", "touch", "started")
        #expect(run.status == 77 && run.errorText.contains("[store.locked]"), "\(run.errorText)")
        #expect(run.errorText.contains("a keyring"), "\(run.errorText)")
        #expect(!FileManager.default.fileExists(atPath: scene.directory / "started"))
        // On a bus without one: it is served as locked, and a program that asks is told so.
        let bare = try await scene.shell(
            """
            dbus-run-session -- sh -c '
                latchkey keyring serve --no-prompt & service=$!
                until latchkey keyring status > /dev/null; do sleep 0.1; done
                secret-tool lookup service example.org
                latchkey get example.org ada
                kill $service; wait $service'
            """)
        #expect(bare.outputText == "" && bare.errorText.contains("the vault"), "\(bare.errorText)")
        #expect(bare.status == 0, "\(bare.errorText)")
    }

    @Test func `the bus starts no other program, whatever the system offers`() async throws {
        let scene = try await KeyringScene()
        let run = try await scene.shell(
            """
            latchkey keyring run -- gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                --method org.freedesktop.DBus.ListActivatableNames
            """)
        #expect(run.outputText == "(['org.freedesktop.DBus'],)\n", "\(run.errorText)")
    }

    @Test func `Python keyring works in the served keyring`() async throws {
        let scene = try await KeyringScene()
        let run = try await scene.shell(
            """
            latchkey keyring run -- python3 -c '
            import keyring
            keyring.set_password("py.example", "ada", "of python")
            print("what it saved:", keyring.get_password("py.example", "ada"))'
            """)
        #expect(run.status == 0 && run.outputText.hasSuffix(" of python\n"), "\(run.errorText)")
    }
}

/// Waits for what happens soon, in another process.
func eventually(_ what: String, _ holds: () async throws -> Bool) async throws {
    for _ in 0..<1200 {
        if try await holds() { return }
        try await Task.sleep(for: .milliseconds(50))
    }
    throw ServiceFailure("it didn't happen in a minute: \(what)")
}
