import Foundation
import TestServices
import Testing

/// `latchkey keyring enable`: a real bus, as dbus-run-session makes it, starts the service.
struct KeyringEnableTests {
    private let unit = "config/systemd/user/latchkey-keyring.service"
    private let activation = "data/dbus-1/services/org.freedesktop.secrets.service"

    private let portal = "data/dbus-1/services/org.freedesktop.impl.portal.desktop.latchkey.service"

    private func text(_ scene: KeyringScene, _ name: String) throws -> String {
        String(decoding: try scene.directory.read(name), as: UTF8.self)
    }

    @Test func `a program that asks for a keyring has it started, before the system's own`() async throws {
        let scene = try await KeyringScene()
        #expect(FileManager.default.fileExists(atPath: "/usr/share/dbus-1/services/org.freedesktop.secrets.service"))
        let run = try await scene.shell(
            """
            dbus-run-session -- sh -c '
                latchkey keyring enable
                latchkey keyring status; echo "status $?"
                printf s3cret | secret-tool store --label=x service a.example username ada
                secret-tool lookup service a.example; echo
                latchkey keyring status
                latchkey keyring disable' 2> errors
            """)
        let errors = try text(scene, "errors")
        #expect(
            run.outputText.contains("none yet; the bus starts one on demand\nstatus 1\n"), "\(run.outputText) \(errors)"
        )
        #expect(run.outputText.contains("s3cret\n") && run.outputText.contains("latchkey (process "))
        #expect(try await scene.latchkey("get", "a.example", "ada").outputText == "s3cret")
        for name in [unit, activation, portal] {
            #expect(!FileManager.default.fileExists(atPath: scene.directory / name), "\(name)")
        }
    }

    @Test func `a bus that runs already starts it from then on`() async throws {
        let scene = try await KeyringScene()
        try scene.directory.makeFolder("data/dbus-1/services")
        let run = try await scene.shell(
            """
            dbus-run-session -- sh -c '
                latchkey keyring enable > /dev/null 2>&1
                gdbus call --session --dest org.freedesktop.DBus --object-path /org/freedesktop/DBus \
                    --method org.freedesktop.DBus.StartServiceByName org.freedesktop.secrets 0 > /dev/null
                latchkey keyring status' 2>&1
            """)
        #expect(run.outputText.contains("latchkey (process "), "\(run.outputText)")
    }

    @Test func `enable names another program that serves a keyring`() async throws {
        let scene = try await KeyringScene(on: PrivateSession(.unlocked))
        let run = try await scene.latchkey("keyring", "enable").successful("enable")
        #expect(run.errorText.contains("once no other program serves one\n"), "\(run.errorText)")
        #expect(run.errorText.contains("/gnome-keyring-daemon (process "), "\(run.errorText)")
        #expect(run.errorText.contains("to use Latchkey's, end that program\n"), "\(run.errorText)")
    }

    @Test func `the written files name the programs and the vault, and systemd accepts them`() async throws {
        let scene = try await KeyringScene()
        let vault = scene.directory / "other/vault"
        let none = try await scene.latchkey("keyring", "enable", "--vault", vault)
        #expect(none.status == 69 && none.errorText.contains("latchkey vault init"), "\(none.errorText)")
        #expect(!FileManager.default.fileExists(atPath: scene.directory / activation))
        try await scene.latchkey("vault", "init", "--vault", vault, "--key-file", scene.directory / "other-key")
            .successful("init")
        let run = try await scene.latchkey("keyring", "enable", "--vault", vault, "--json").successful("enable")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(run.output)) as? [String: Any])
        #expect(object["change"] as? String == "enabled" && (object["files"] as? [String])?.count == 3)
        let written = try text(scene, activation)
        #expect(written.contains("Name=org.freedesktop.secrets\n") && written.contains("--vault \(vault)"))
        #expect(written.contains("/latchkey keyring serve --no-prompt"))
        for line in [
            "Type=dbus", "BusName=org.freedesktop.secrets", "LimitCORE=0", "UMask=0077", "NoNewPrivileges=yes",
            "MemoryDenyWriteExecute=yes", "RestrictAddressFamilies=AF_UNIX", "Restart=on-failure",
            "RestartPreventExitStatus=77",
        ] {
            #expect(try text(scene, unit).contains(line + "\n"), "\(line)")
        }
        let checked = try await scene.shell("systemd-analyze verify --user \(unit) 2>&1")
        #expect(!checked.outputText.contains("latchkey-keyring.service:"), "\(checked.outputText)")
        // A vault in a database is reached over the network.
        let uri = "postgresql://127.0.0.1/secrets?sslmode=verify-full&schema=latchkey"
        try await scene.shell(
            "latchkey keyring disable && XDG_CONFIG_HOME=$PWD/remote latchkey keyring enable --vault '\(uri)'"
        ).successful("a database")
        let remote = try text(scene, "remote/systemd/user/latchkey-keyring.service")
        #expect(remote.contains("RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6\n") && remote.contains(uri))
        try await scene.shell("XDG_CONFIG_HOME=$PWD/remote latchkey keyring disable").successful("disable")
        try await scene.latchkey("keyring", "enable", "--vault", vault).successful("first")
        // Again is no error, and is the same.
        try await scene.latchkey("keyring", "enable", "--vault", vault).successful("again")
        #expect(try text(scene, activation) == written)
        // What the files don't say is said; and they go whatever the vault is then.
        let open = ["LATCHKEY_KEY_FILE": scene.directory / "key"]
        let warned = try await scene.shell("latchkey keyring enable --vault \(vault)", open).successful("warned")
        #expect(warned.errorText.contains("latchkey config set key-file PATH"), "\(warned.errorText)")
        try await scene.latchkey("keyring", "disable", "--vault", "with space/vault").successful("disable")
        #expect(!FileManager.default.fileExists(atPath: scene.directory / activation))
    }

    @Test func `another program's file is left alone, and nothing is written beside it`() async throws {
        let scene = try await KeyringScene()
        try scene.directory.makeFolder("data/dbus-1/services")
        let mine = "[D-BUS Service]\nName=org.freedesktop.secrets\nExec=/usr/bin/keepassxc\n"
        try scene.directory.write(activation, mine)
        let run = try await scene.latchkey("keyring", "enable")
        #expect(run.status == 77 && run.errorText.contains("[keyring.other-file]"), "\(run.errorText)")
        #expect(!FileManager.default.fileExists(atPath: scene.directory / unit))
        let disabled = try await scene.latchkey("keyring", "disable")
        #expect(disabled.status == 1 && disabled.errorText.contains("[keyring.not-enabled]"))
        #expect(try text(scene, activation) == mine)
        // What can't be read isn't ours, and the others go.
        try await scene.shell("rm \(activation); latchkey keyring enable; rm \(activation); mkdir \(activation)")
            .successful("mkdir")
        let rest = try await scene.latchkey("keyring", "disable")
        #expect(rest.status == 77 && rest.errorText.contains("[keyring.other-file]"), "\(rest.errorText)")
        for name in [unit, portal] { #expect(!FileManager.default.fileExists(atPath: scene.directory / name)) }
    }

    /// The first file stayed when the second couldn't be written.
    @Test func `if one file can't be written, all stay unchanged`() async throws {
        let scene = try await KeyringScene()
        // So long that the portal's file could be there, and the name under which it is written first can't.
        var data = scene.directory / "long"
        let rest = "/dbus-1/services/org.freedesktop.impl.portal.desktop.latchkey.service".utf8.count
        while data.utf8.count + rest < 4080 {
            data += "/" + String(repeating: "x", count: min(200, 4080 - rest - data.utf8.count - 1 + 1))
        }
        let failing = ["XDG_DATA_HOME": data]
        let vault = "--vault \(scene.directory / "data/latchkey/vault")"
        for before in [nil, "# Written by `latchkey keyring enable`; `latchkey keyring disable` removes it.\n[Unit]\n"]
        {
            if let before { try scene.directory.write(unit, before) }
            let run = try await scene.shell("latchkey keyring enable \(vault)", failing)
            #expect(run.status == 73 && run.errorText.contains("[keyring.cannot-write]"), "\(run.errorText)")
            let file = scene.directory / unit
            #expect((try? String(contentsOfFile: file, encoding: .utf8)) == before)
        }
        try await scene.shell("rm -rf long").successful("rm")
    }

    @Test func `a path that a unit can't hold is refused`() async throws {
        let scene = try await KeyringScene()
        for (number, path) in ["with space/vault", "per%cent/vault", "quo\"te/vault"].enumerated() {
            try await scene.latchkey("vault", "init", "--vault", path, "--key-file", "key-\(number)").successful("init")
            let run = try await scene.latchkey("keyring", "enable", "--vault", path)
            #expect(run.status == 77 && run.errorText.contains("[keyring.unfit-path]"), "\(path): \(run.errorText)")
        }
    }
}
