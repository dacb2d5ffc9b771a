internal import Foundation
internal import Testing
internal import TestServices

/// Who owns org.freedesktop.secrets, and what each connection is told.
struct NameTests {
    private func fixture(
        _ session: PrivateSession, _ words: String..., mode: String = "keyring"
    ) throws -> RunningProgram {
        try BuiltProducts.program("keyring-fixture").start([mode] + words, environment: session.environment)
    }

    /// A call may be done on GDBus's own thread, which closing the connection waits for.
    @Test func `a service that is stopped in the middle of a call responds, and ends in order`() async throws {
        let session = try await PrivateSession(.none)
        let service = try fixture(session, "--own", mode: "stopping")
        try await service.wait(for: "the name") { service.outputSoFar.contains("\n") }
        let call = try await Program("dbus-send").run(
            [
                "--session", "--print-reply", "--dest=org.freedesktop.secrets",
                "/org/freedesktop/secrets/collection/login", "org.freedesktop.Secret.Collection.Delete",
            ], environment: session.environment)
        #expect(call.status == 0, "\(call.errorText)")
        let end = try await service.finish(within: .seconds(60))
        #expect(end.status == 0 && end.outputText.hasSuffix("\nstopped\n"), "\(end.outputText)")
    }

    @Test func `a name that another program owns is left alone, and the program named`() async throws {
        let session = try await PrivateSession(.unlocked)
        let run = try await fixture(session, "--own").finish(within: .seconds(60))
        let daemon = try Program("gnome-keyring-daemon").path
        let pid = try #require(session.daemonPID)
        #expect(run.status == 1 && run.outputText == "owned by \(pid) \(daemon)\n")
        #expect(session.daemonIsRunning)
    }

    @Test func `a second service takes the name on request, and the first one ends in order`() async throws {
        let session = try await PrivateSession(.none)
        let first = try fixture(session, "--own")
        try await first.wait(for: "the name") { first.outputSoFar.contains("\n") }
        let second = try await fixture(session, "--own").finish(within: .seconds(60))
        let program = try BuiltProducts.program("keyring-fixture").path
        #expect(second.status == 1 && second.outputText == "owned by \(first.pid) \(program)\n")
        let third = try fixture(session, "--own", "--replace")
        try await third.wait(for: "the name") { third.outputSoFar.contains("\n") }
        let run = try await first.finish(within: .seconds(60))
        #expect(run.status == 1 && run.outputText.hasSuffix("\nnameLost\n"))
        #expect(try await session.hasOwner())
        third.type("stop\n")
        let end = try await third.finish(within: .seconds(60))
        #expect(end.status == 0 && end.outputText.hasSuffix("\nstopped\n"))
        #expect(try await !session.hasOwner())
    }

    @Test func `the end of the bus ends the service in order`() async throws {
        let session = try await PrivateSession(.none)
        let service = try fixture(session, "--own")
        try await service.wait(for: "the name") { service.outputSoFar.contains("\n") }
        await session.killBus()
        let run = try await service.finish(within: .seconds(60))
        #expect(run.status == 1 && run.outputText.hasSuffix("\nbusLost\n"))
        let late = try await fixture(session).finish(within: .seconds(60))
        #expect(late.status == 1)
    }

    @Test func `the service stops waiting for a silent bus`() async throws {
        let session = try await PrivateSession(.none)
        session.suspendBus()
        let run = try await fixture(session, "--own").finish(within: .seconds(120))
        #expect(run.status == 1 && run.outputText.contains("BusFault"))
    }

    @Test func `the log records who reads a secret, by label, program and process`() async throws {
        let keyring = try await ServedKeyring()
        let service = try #require(keyring.service)
        _ = try await keyring.session.secretTool(["store", "--label=A label", "a", "1"], input: [65])
        #expect(!service.outputSoFar.contains("read"))
        _ = try await keyring.session.secretTool(["lookup", "a", "1"])
        let secretTool = try Program("secret-tool").path
        #expect(service.outputSoFar.contains("read A label \(secretTool) "))
    }

    @Test func `a read-only view refuses all changes, and nothing else`() async throws {
        let keyring = try await ServedKeyring(mode: "read-only")
        let login = "/org/freedesktop/secrets/collection/login"
        let run = try await keyring.python(
            "call.py",
            [
                "create", login, "x", "create-collection", "Work", "set-alias", "other", login, "search", "alias",
                "default",
            ])
        let denied = "AccessDenied this view can only be read\n"
        #expect(run.outputText == String(repeating: denied, count: 3) + "[] []\n\(login)\n", "\(run.errorText)")
    }

    /// Programs that want a secret for this session alone had it stored on the disk.
    @Test func `the alias session always names the collection in memory`() async throws {
        let keyring = try await ServedKeyring()
        let root = "/org/freedesktop/secrets"
        let (login, session) = (root + "/collection/login", root + "/collection/session")
        let run = try await keyring.python(
            "call.py",
            [
                "alias", "session", "set-alias", "session", login, "set-alias", "other", session, "set-alias",
                "session", session, "create-collection-as", "session", "create", root + "/aliases/session", "x",
            ])
        let refused = "NotSupported only the session collection has the alias session, and it has no other one"
        #expect(
            run.outputText == """
                \(session)
                \(refused)
                \(refused)

                \(session) /
                \(session)/i1 /

                """, "\(run.outputText) \(run.errorText)")
    }

    /// It would be read past its lock.
    @Test func `an item is only under its own collection`() async throws {
        let keyring = try await ServedKeyring(mode: "normal")
        let root = "/org/freedesktop/secrets/collection"
        let run = try await keyring.python(
            "call.py",
            [
                "secret", root + "/spanish/10", "secret", root + "/english/10", "get", root + "/english/10", "Item",
                "Label", "delete", root + "/english/10", "secrets", "\(root)/english/10,\(root)/spanish/10", "get",
                root + "/spanish/10", "Item", "Label",
            ])
        #expect(
            run.outputText == """
                IsLocked
                NoSuchObject
                NoSuchObject unknown object
                NoSuchObject unknown object
                {}
                ('s', 'Item')

                """, "\(run.errorText)")
    }

    @Test func `each object describes itself, under its alias too, and its children`() async throws {
        let keyring = try await ServedKeyring(mode: "normal")
        let root = "/org/freedesktop/secrets"
        let paths = [
            "/", "/org/freedesktop", root, root + "/collection", root + "/aliases", root + "/collection/english",
            root + "/aliases/default", root + "/aliases/default/1",
        ]
        let run = try await keyring.python("call.py", paths.flatMap { ["introspect", $0] } + ["descriptor", "ping"])
        let all = "DBus.Properties DBus.Introspectable DBus.Peer"
        #expect(
            run.outputText == """
                \(all) org
                \(all) secrets
                Secret.Service org.latchkey.Keyring1 \(all) aliases collection prompt session
                \(all) empty english german session spanish
                \(all) default login session
                Secret.Collection \(all) 1 2 3
                Secret.Collection \(all) 1 2 3
                Secret.Item \(all)
                InvalidArgs the method takes no descriptor
                ()

                """, "\(run.errorText)")
    }
}
