internal import Foundation
internal import Testing
internal import TestServices

/// What clients hear of changes, whoever makes them.
struct SignalTests {
    private let keyring: ServedKeyring
    private let listener: RunningProgram

    init() async throws {
        let keyring = try await ServedKeyring()
        let script = TestData.folder().appendingPathComponent("signals.py").path
        let listener = try Program("/usr/bin/python3").start([script], environment: keyring.session.environment)
        try await listener.wait(for: "the listener") { listener.outputSoFar.contains("ready\n") }
        (self.keyring, self.listener) = (keyring, listener)
    }

    /// Waits for the last one, and compares all.
    private func expect(_ signals: [String], after action: () async throws -> Void) async throws {
        let count = lines.count
        try await action()
        try await listener.wait(for: signals.last ?? "") { lines.count >= count + signals.count }
        #expect(Array(lines.dropFirst(count)) == signals)
    }

    private var lines: [String] {
        listener.outputSoFar.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }

    private func store(_ secret: String) async throws {
        _ = try await keyring.session.secretTool(["store", "--label=One", "a", "1"], input: Array(secret.utf8))
            .successful("store")
    }

    @Test func `an item that is created, replaced and deleted is announced with its collection's items`() async throws {
        let (login, item) = ("/collection/login", "/collection/login/i1")
        try await expect([
            "ItemCreated \(login) \(item)",
            "PropertiesChanged \(login) Collection {'Items': ['/org/freedesktop/secrets\(item)']}",
        ]) { try await store("one") }
        try await expect([
            "PropertiesChanged \(item) Item {'Label': 'One', 'Attributes': {'a': '1'}}",
            "ItemChanged \(login) \(item)",
        ]) { try await store("two") }
        try await expect([
            "ItemDeleted \(login) \(item)", "PropertiesChanged \(login) Collection {'Items': []}",
        ]) { _ = try await keyring.session.secretTool(["clear", "a", "1"]).successful("clear") }
    }

    @Test func `changes by other processes are announced in the same way`() async throws {
        let (login, item) = ("/collection/login", "/collection/login/other")
        // The store is opened by the first call.
        _ = try await keyring.session.secretTool(["lookup", "a", "none"])
        try await expect([
            "ItemCreated \(login) \(item)",
            "PropertiesChanged \(login) Collection {'Items': ['/org/freedesktop/secrets\(item)']}",
        ]) { try await keyring.tell("create") }
        try await expect([
            "PropertiesChanged \(item) Item {'Label': 'Changed', 'Attributes': {'by': 'other'}}",
            "ItemChanged \(login) \(item)",
        ]) { try await keyring.tell("change") }
        try await expect([
            "CollectionChanged / \(login)",
            "PropertiesChanged \(login) Collection {'Items': ['/org/freedesktop/secrets\(item)']}",
        ]) { try await keyring.tell("unknown") }
        try await expect([
            "ItemDeleted \(login) \(item)", "PropertiesChanged \(login) Collection {'Items': []}",
        ]) { try await keyring.tell("delete") }
    }

    @Test func `a collection that is made, locked, unlocked and deleted is announced`() async throws {
        let (service, root) = ("org.freedesktop.secrets", "/org/freedesktop/secrets")
        func call(_ member: String, _ path: String, _ arguments: [String]) async throws {
            try await keyring.session.call(service, path, "org.freedesktop.Secret." + member, arguments)
        }
        let work = "/collection/work"
        try await expect([
            "CollectionCreated / \(work)",
            "PropertiesChanged / Service {'Collections': ['\(root)/collection/login', '\(root)\(work)', "
                + "'\(root)/collection/session']}",
        ]) {
            _ = try await keyring.python("call.py", ["create-collection", "Work"]).successful("CreateCollection")
        }
        try await expect([
            "ItemCreated \(work) \(work)/i1", "PropertiesChanged \(work) Collection {'Items': ['\(root)\(work)/i1']}",
        ]) { _ = try await keyring.python("call.py", ["create", root + work, "x"]).successful("CreateItem") }
        try await expect([
            "PropertiesChanged \(work) Collection {'Locked': True}", "CollectionChanged / \(work)",
            "PropertiesChanged \(work)/i1 Item {'Locked': True}",
        ]) { try await call("Service.Lock", root, ["array:objpath:\(root)\(work)"]) }
        try await expect([
            "PropertiesChanged \(work) Collection {'Locked': False}", "CollectionChanged / \(work)",
            "PropertiesChanged \(work)/i1 Item {'Locked': False}",
        ]) { try await call("Service.Unlock", root, ["array:objpath:\(root)\(work)"]) }
        try await expect([
            "CollectionDeleted / \(work)",
            "PropertiesChanged / Service {'Collections': ['\(root)/collection/login', '\(root)/collection/session']}",
        ]) { try await call("Collection.Delete", root + work, []) }
    }
}
