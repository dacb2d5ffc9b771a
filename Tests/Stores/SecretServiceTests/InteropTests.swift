import Testing
import TestServices

/// Latchkey's store and other programs on one gnome-keyring: each reads what the other wrote, where their items have
/// the same shape, and leaves it alone where not. Docs/Reference/secret-service.md has the table.
struct InteropTests {
    private let session: PrivateSession
    private let probe: KeyringProbe

    init() async throws {
        session = try await PrivateSession(.unlocked)
        probe = try KeyringProbe(session)
    }

    /// The secrets of all items under `service` and `username`, in alphabetical order.
    private func secrets(_ service: String, _ account: String) async throws -> [String] {
        let search = ["search", "--all", "service", service, "username", account]
        return try await session.secretTool(search).outputText
            .split(separator: "\n").filter { $0.hasPrefix("secret = ") }.map { String($0.dropFirst(9)) }.sorted()
    }

    // MARK: - Python keyring

    @Test(arguments: PythonKeyring.Backend.allCases)
    func `Python keyring's passwords are read, changed in place and deleted`(
        _ backend: PythonKeyring.Backend
    ) async throws {
        let python = PythonKeyring(backend, on: session)
        try await python.set("s", "u", "zażółć")
        #expect(try await probe.read("s", "u") == "zażółć")
        #expect(try await probe.ask("list") == ["s/u/password/Password for 'u' on 's'"])
        #expect(try await probe.save("s", "u", "changed 🔑")[0] == "saved")
        #expect(try await python.get("s", "u") == "changed 🔑")
        #expect(try await secrets("s", "u") == ["changed 🔑"])
        try await python.set("s", "u", "again")
        #expect(try await probe.read("s", "u") == "again")
        #expect(try await secrets("s", "u") == ["again"])
        #expect(try await probe.ask("delete", "s", "u", "password") == ["deleted"])
        #expect(try await python.get("s", "u") == nil)
    }

    @Test func `Python keyring reads and deletes our passwords`() async throws {
        let python = PythonKeyring(.secretService, on: session)
        try await probe.save("s", "u", "ours")
        #expect(try await python.get("s", "u") == "ours")
        try await python.delete("s", "u")
        #expect(try await probe.read("s", "u") == nil)
    }

    @Test func `Python keyring's duplicate of our item is read at once, and repaired into an item that it finds`()
        async throws
    {
        let python = PythonKeyring(.secretService, on: session)
        try await probe.save("s", "u", "ours")
        // It replaces only what has all its attributes.
        try await python.set("s", "u", "theirs")
        #expect(try await secrets("s", "u") == ["ours", "theirs"])
        #expect(try await probe.read("s", "u") == "theirs")
        #expect(try await probe.save("s", "u", "newest")[0] == "saved")
        #expect(try await probe.read("s", "u") == "newest")
        #expect(try await probe.ask("repair", "s", "u", "password") == ["deleted 0", "left 1", "differing 1"])
        try await python.set("s", "u", "ours")
        #expect(try await probe.ask("repair", "s", "u", "password") == ["deleted 1", "left 0", "differing 0"])
        #expect(try await python.get("s", "u") == "ours")
        // This backend looks for the general schema, which gnome-keyring gives an item without one not before it reads
        // its file again: once the file's time of change, in whole seconds, is another one.
        let wide = PythonKeyring(.libsecret, on: session)
        let deadline = ContinuousClock.now + .seconds(120)
        var found = try await wide.get("s", "u")
        while found == nil, ContinuousClock.now < deadline {
            try await probe.save("another", "u", "one")
            found = try await wide.get("s", "u")
        }
        #expect(found == "ours")
        #expect(try await secrets("s", "u") == ["ours"])
    }

    @Test func `Python keyring's two backends find one item each, and both items stay`() async throws {
        let wide = PythonKeyring(.libsecret, on: session)
        let narrow = PythonKeyring(.secretService, on: session)
        try await wide.set("s", "u", "wide")
        #expect(try await narrow.get("s", "u") == "wide")
        #expect(try await probe.save("s", "u", "changed")[0] == "saved")
        #expect(try await wide.get("s", "u") == "changed")
        #expect(try await narrow.get("s", "u") == "changed")
        #expect(try await secrets("s", "u") == ["changed"])
    }

    // MARK: - git

    @Test func `git-credential-libsecret and the store leave each other's items alone`() async throws {
        let git = try await GitCredentialLibsecret(on: session)
        try await git(
            "store", ["protocol": "https", "host": "example.org", "username": "ada", "password": "git's"])
        #expect(try await probe.ask("list") == [""])
        #expect(try await probe.read("example.org", "ada") == nil)
        #expect(try await probe.save("example.org", "ada", "ours")[0] == "saved")
        let answer = try await git("get", ["protocol": "https", "host": "example.org"])
        #expect(answer["username"] == "ada" && answer["password"] == "git's")
        #expect(try await probe.read("example.org", "ada") == "ours")
        #expect(try await probe.ask("delete", "example.org", "ada", "password") == ["deleted"])
        #expect(try await git("get", ["protocol": "https", "host": "example.org"])["password"] == "git's")
        try await probe.save("example.org", "ada", "ours")
        // Without a user it erases all that it takes for its own.
        try await git("erase", ["protocol": "https", "host": "example.org"])
        #expect(try await git("get", ["protocol": "https", "host": "example.org"])["password"] == nil)
        #expect(try await probe.read("example.org", "ada") == "ours")
    }

    // MARK: - Items of the shape that other programs write

    /// A program's item, made as the program makes it.
    struct Shape: Sendable, CustomTestStringConvertible {
        let program: String
        let label: String
        let attributes: [String: String]
        var contentType = "text/plain"

        var testDescription: String { program }
    }

    static let shared: [Shape] = [
        Shape(program: "secret-tool", label: "Mine", attributes: ["service": "s", "username": "u"]),
        Shape(
            program: "go-keyring", label: "Password for 'u' on 's'", attributes: ["service": "s", "username": "u"],
            contentType: "text/plain; charset=utf8"),
        Shape(
            program: "keyring-rs", label: "u@s:default (keyring v2.0.0)",
            attributes: ["service": "s", "username": "u", "target": "default", "application": "rust-keyring"]),
        Shape(
            program: "keyring-rs 3", label: "keyring:u@s",
            attributes: ["service": "s", "username": "u", "application": "rust-keyring"]),
    ]

    @Test(arguments: shared)
    func `an item with a service and a username is read, changed in place and deleted`(_ shape: Shape) async throws {
        try await session.createItem(shape.label, shape.attributes, "theirs", contentType: shape.contentType)
        let lookup = ["lookup"] + shape.attributes.flatMap { [$0.key, $0.value] }
        #expect(try await probe.read("s", "u") == "theirs")
        #expect(try await probe.ask("list") == ["s/u/password/\(shape.label)"])
        #expect(try await probe.save("s", "u", "ours")[0] == "saved")
        #expect(try await session.secretTool(lookup).outputText == "ours")
        #expect(try await secrets("s", "u") == ["ours"])
        #expect(try await probe.ask("list") == ["s/u/password/\(shape.label)"])
        #expect(try await probe.ask("delete", "s", "u", "password") == ["deleted"])
        #expect(try await session.secretTool(lookup).status == 1)
    }

    static let foreign: [Shape] = [
        Shape(
            program: "gh's active account", label: "Password for '' on 'gh:github.com'",
            attributes: ["service": "gh:github.com", "username": ""]),
        Shape(
            program: "git", label: "Git: https://github.com/",
            attributes: [
                "xdg:schema": "org.git.Password", "protocol": "https", "server": "github.com", "user": "u",
            ]),
        Shape(
            program: "Git Credential Manager", label: "git:https://github.com",
            attributes: [
                "xdg:schema": "com.microsoft.GitCredentialManager", "service": "git:https://github.com", "account": "u",
            ]),
        Shape(
            program: "docker", label: "https://index.docker.io/v1/",
            attributes: [
                "xdg:schema": "io.docker.Credentials", "label": "Docker Credentials",
                "server": "https://index.docker.io/v1/", "username": "u", "docker_cli": "1",
            ]),
        Shape(
            program: "cargo", label: "cargo-registry:crates-io",
            attributes: [
                "xdg:schema": "org.rust-lang.cargo.registry", "url": "sparse+https://index.crates.io/",
            ]),
        Shape(
            program: "keyring-rs with a target", label: "u@s:t (keyring v2.0.0)",
            attributes: ["service": "s", "username": "u", "target": "t", "application": "rust-keyring"]),
        Shape(
            program: "a line break in an attribute", label: "L", attributes: ["service": "s\nt", "username": "u"]),
        Shape(program: "a service alone", label: "L", attributes: ["service": "s"]),
        Shape(program: "no attributes at all", label: "L", attributes: [:]),
    ]

    @Test(arguments: foreign)
    func `an item with other attributes is neither listed nor changed nor deleted`(_ shape: Shape) async throws {
        try await session.createItem(shape.label, shape.attributes, "theirs", contentType: shape.contentType)
        #expect(try await probe.ask("list") == [""])
        // Saves and deletes under what its attributes say, were it ours.
        let service = shape.attributes["service"] ?? shape.attributes["server"] ?? "s"
        let account = shape.attributes["username"] ?? shape.attributes["account"] ?? "u"
        if !account.isEmpty, !service.contains("\n") {
            #expect(try await probe.read(service, account) == nil)
            #expect(try await probe.save(service, account, "ours")[0] == "saved")
            #expect(try await probe.ask("delete", service, account, "password") == ["deleted"])
        }
        let found = try await session.items()
        #expect(found.count == 1)
        #expect(found.first?.secret == "theirs" && found.first?.label == shape.label)
        let kept = found.first?.attributes.filter { $0.key != "xdg:schema" }
        #expect(kept == shape.attributes.filter { $0.key != "xdg:schema" })
    }

    @Test func `one account of gh is read and changed, and its active account stays`() async throws {
        try await session.createItem("L", ["service": "gh:github.com", "username": "octocat"], "gho_one")
        try await session.createItem("L", ["service": "gh:github.com", "username": "hubot"], "gho_two")
        try await session.createItem("L", ["service": "gh:github.com", "username": ""], "gho_one")
        #expect(
            try await probe.ask("list", "gh:github.com")
                == ["gh:github.com/hubot/password/L", "gh:github.com/octocat/password/L"])
        #expect(try await probe.read("gh:github.com", "octocat") == "gho_one")
        #expect(try await probe.save("gh:github.com", "octocat", "gho_new")[0] == "saved")
        #expect(try await probe.ask("delete", "gh:github.com", "hubot", "password") == ["deleted"])
        #expect(try await session.items().map(\.secret).sorted() == ["gho_new", "gho_one"])
    }

    @Test func `a saved item has exactly the attributes and the label that go-keyring and gh write`() async throws {
        try await probe.save("gh:github.com", "octocat", "gho_ours")
        let items = try await session.items()
        #expect(items.count == 1)
        // gnome-keyring shows a schema on items that have none.
        let attributes = items.first?.attributes.filter { $0.key != "xdg:schema" }
        #expect(attributes == ["service": "gh:github.com", "username": "octocat"])
        #expect(items.first?.label == "Password for 'octocat' on 'gh:github.com'")
    }
}
