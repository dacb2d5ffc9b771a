import Testing
import TestServices

/// A service that replies wrongly, or not: every operation ends with a typed error, and the next one after a restart
/// works.
struct WrongReplyTests {
    typealias Fault = StandInService.Fault

    private let session: PrivateSession
    private let probe: KeyringProbe

    init() async throws {
        session = try await PrivateSession(.none)
        probe = try KeyringProbe(session)
    }

    private func code(_ words: [String]) -> String { words[0] == "error" ? words[1] : words[0] }

    /// The operations, each with the methods that it can't do without.
    private static let operations: [(words: [String], methods: [String])] = [
        (["read", "s", "u", "password"], ["OpenSession", "SearchItems", "GetAll", "GetSecrets"]),
        (["read", "s", "nobody", "password"], ["OpenSession", "SearchItems", "Get"]),
        (["save", "s", "u", "password", "00"], ["OpenSession", "SearchItems", "GetAll", "SetSecret"]),
        (["save", "s", "new", "password", "00"], ["OpenSession", "SearchItems", "Get", "CreateItem"]),
        (["delete", "s", "u", "password"], ["OpenSession", "SearchItems", "GetAll", "Delete"]),
        (["list"], ["OpenSession", "Get", "GetAll"]),
        (["list", "s"], ["OpenSession", "Get", "SearchItems", "GetAll"]),
        (["state"], ["OpenSession", "ReadAlias", "Get"]),
        (["watch"], ["OpenSession", "ReadAlias", "Get"]),
        (["duplicates"], ["OpenSession", "Get", "GetAll"]),
    ]

    private static let methods = Set(operations.flatMap(\.methods)).sorted()

    @Test func `the stand-in without a fault behaves like a service`() async throws {
        let service = try await StandInService(on: session)
        #expect(try await probe.read("s", "u") == "kept")
        #expect(try await probe.save("s", "u", "changed")[0] == "saved")
        #expect(try await probe.read("s", "u") == "changed")
        #expect(try await probe.save("s", "new", "made")[0] == "saved")
        #expect(try await probe.ask("list").count == 2)
        #expect(try await session.secretTool(["lookup", "service", "s", "username", "new"]).outputText == "made")
        #expect(try await probe.ask("delete", "s", "u", "password") == ["deleted"])
        #expect(try await probe.read("s", "u") == nil)
        #expect(service.calls("CreateItem") == 1)
    }

    @Test(arguments: methods)
    func `a reply of the wrong type is a protocol violation`(_ method: String) async throws {
        let service = try await StandInService(on: session, [method: .type])
        for (words, methods) in Self.operations where methods.contains(method) {
            let answer = try await probe.ask(words)
            #expect(code(answer) == "store.protocol-violation", "\(words)")
            #expect(answer[4] != "-")
        }
        await service.stop()
        let successor = try await StandInService(on: session)
        #expect(try await probe.read("s", "u") == "kept")
        #expect(successor.calls("GetSecrets") == 1)
    }

    @Test(arguments: methods)
    func `an unknown error is reported by its number alone`(_ method: String) async throws {
        let service = try await StandInService(on: session, [method: .error])
        for (words, methods) in Self.operations where methods.contains(method) {
            let answer = try await probe.ask(words)
            #expect(answer[0] == "error" && answer[2] != "-", "\(words)")
            // The service's prose may hold anything.
            #expect(!answer.joined().contains("canary"))
        }
        #expect(service.calls(method) > 0)
    }

    @Test(arguments: methods)
    func `a method without a reply ends at the deadline`(_ method: String) async throws {
        let service = try await StandInService(on: session, [method: .silence])
        _ = try await probe.ask("timeout", "300")
        for (words, methods) in Self.operations where methods.contains(method) {
            #expect(code(try await probe.ask(words)) == "store.timed-out", "\(words)")
        }
        await service.stop()
        let successor = try await StandInService(on: session)
        _ = try await probe.ask("timeout", "30000")
        #expect(try await probe.read("s", "u") == "kept")
        #expect(successor.calls("GetSecrets") == 1)
    }

    @Test(arguments: methods)
    func `a service that dies on a call makes the store unavailable until it is back`(_ method: String) async throws {
        let operation = Self.operations.first { $0.methods.contains(method) }!
        let service = try await StandInService(on: session, [method: .death])
        #expect(code(try await probe.ask(operation.words)) == "store.unavailable")
        #expect(service.calls(method) == 1)
        #expect(code(try await probe.ask(operation.words)) == "store.unavailable")
        let successor = try await StandInService(on: session)
        #expect(try await probe.read("s", "u") == "kept")
        #expect(successor.calls("GetSecrets") == 1)
    }

    /// The secret counted as stored.
    @Test func `a service that makes no item and asks nothing is reported`() async throws {
        let service = try await StandInService(on: session, ["CreateItem": .empty])
        #expect(code(try await probe.ask("save", "s", "new", "password", "00")) == "store.protocol-violation")
        #expect(service.calls("CreateItem") == 1)
    }

    /// The person was asked eight times, and then told that other programs were busy.
    @Test func `a question that is answered and unlocks nothing is asked once`() async throws {
        let service = try await StandInService(on: session, ["GetAll": .locked, "Unlock": .locked])
        #expect(code(try await probe.ask("read", "s", "u", "password")) == "store.locked")
        #expect(service.calls("Prompt") == 1)
    }

    // MARK: - The session key

    @Test(arguments: [Fault.plain, .garbage, .type, .error])
    func `without an agreed key no secret is sent or accepted, least of all unencrypted`(_ fault: Fault) async throws {
        let service = try await StandInService(on: session, ["OpenSession": fault])
        for (words, _) in Self.operations {
            let answer = try await probe.ask(words)
            #expect(answer[0] == "error", "\(words)")
            if fault == .plain {
                #expect(answer[1] == "store.protocol-violation" && answer[3].contains("unencrypted"))
            }
        }
        for method in ["CreateItem", "SetSecret", "GetSecrets"] { #expect(service.calls(method) == 0) }
        await service.stop()
        let successor = try await StandInService(on: session)
        #expect(try await probe.save("s", "u", "sealed")[0] == "saved")
        #expect(successor.calls("SetSecret") == 1)
    }

    @Test func `a secret that the session does not decrypt is an error, not another secret`() async throws {
        let service = try await StandInService(on: session, ["GetSecrets": .garbage])
        #expect(code(try await probe.ask("read", "s", "u", "password")) == "store.protocol-violation")
        // Once more with a new session: KWallet agrees on a wrong key now and then.
        #expect(service.calls("OpenSession") == 2 && service.calls("GetSecrets") == 2)
    }

    /// GLib has a name of its own for errors that it doesn't know, such as NoSession.
    @Test(arguments: [
        ("OpenSession", Fault.firstRefused), ("SetSecret", .firstRefused), ("SetSecret", .firstForgotten),
    ])
    func `a key or a secret that the service refuses is sent once more with another key`(
        _ method: String, _ fault: Fault
    ) async throws {
        let service = try await StandInService(on: session, [method: fault])
        #expect(try await probe.save("s", "u", "new")[0] == "saved")
        #expect(service.calls("OpenSession") == 2)
        #expect(try await probe.read("s", "u") == "new")
        #expect(service.calls("CreateItem") == 0)
    }

    // MARK: - Items that others change meanwhile

    @Test func `an item that is gone between search and description is absent`() async throws {
        let service = try await StandInService(on: session, ["GetAll": .gone])
        #expect(try await probe.read("s", "u") == nil)
        #expect(try await probe.ask("delete", "s", "u", "password") == ["none"])
        #expect(try await probe.ask("list", "s") == [""])
        #expect(service.calls("Delete") == 0)
    }

    @Test func `an item that disappears before each read of its secret is busy, not absent`() async throws {
        let service = try await StandInService(on: session, ["GetSecrets": .empty])
        #expect(code(try await probe.ask("read", "s", "u", "password")) == "store.busy")
        // It looked again and again, and gave up.
        #expect((2...10).contains(service.calls("GetSecrets")))
    }

    @Test func `an item that vanishes before each save is busy, and nothing is lost`() async throws {
        let service = try await StandInService(on: session, ["SetSecret": .gone])
        #expect(code(try await probe.save("s", "u", "new")) == "store.busy")
        #expect((2...10).contains(service.calls("SetSecret")) && service.calls("CreateItem") == 0)
        #expect(try await probe.read("s", "u") == "kept")
    }

    @Test func `paths that lead nowhere aren't credentials`() async throws {
        let service = try await StandInService(on: session, ["SearchItems": .garbage])
        #expect(try await probe.read("s", "u") == nil)
        #expect(try await probe.save("s", "u", "x")[0] == "saved")
        #expect(service.calls("CreateItem") == 1)
    }

    @Test(arguments: [Fault.firstAstray, .firstRefused])
    func `a search before the session is repeated in the session if its result leads nowhere`(
        _ fault: Fault
    ) async throws {
        let service = try await StandInService(on: session, ["SearchItems": fault])
        #expect(try await probe.read("s", "u") == "kept")
        #expect(service.calls("SearchItems") == 2 && service.calls("OpenSession") == 1)
    }

    @Test(arguments: ["Get", "GetAll"])
    func `properties that are missing or of the wrong type are a protocol violation`(_ method: String) async throws {
        let service = try await StandInService(on: session, [method: .garbage])
        for (words, methods) in Self.operations where methods.contains(method) && words != ["state"] {
            #expect(code(try await probe.ask(words)) == "store.protocol-violation", "\(words)")
        }
        #expect(service.calls(method) > 0)
    }

    // MARK: - Items that are locked apart from their collection

    @Test func `an item that is locked on its own is unlocked on its own, then read`() async throws {
        let service = try await StandInService(on: session, ["GetAll": .locked])
        #expect(try await probe.read("s", "u") == "kept")
        #expect(service.calls("Unlock") == 1)
        #expect(try await probe.save("s", "u", "new")[0] == "saved")
        #expect(try await probe.ask("list") == ["s/u/password/Kept"])
        #expect(service.calls("Unlock") == 1)
    }

    @Test func `a service that refuses to unlock leaves the item locked`() async throws {
        let service = try await StandInService(on: session, ["GetAll": .locked, "Unlock": .empty])
        #expect(code(try await probe.ask("read", "s", "u", "password")) == "store.locked")
        #expect(service.calls("Unlock") == 1)
    }

    @Test func `a prompt that ends with a reply of the wrong type is a protocol violation`() async throws {
        let service = try await StandInService(on: session, ["GetAll": .locked, "Unlock": .garbage])
        #expect(code(try await probe.ask("read", "s", "u", "password")) == "store.protocol-violation")
        #expect(service.calls("Prompt") == 1)
        // One that nobody may answer isn't shown; nor is it taken away, which gnome-keyring wouldn't survive.
        _ = try await probe.ask("prompting", "no")
        #expect(code(try await probe.ask("read", "s", "u", "password")) == "store.locked")
        #expect(service.calls("Prompt") == 1 && service.calls("Dismiss") == 0)
    }
}
