import Foundation
import TestServices
import Testing

/// What Python keyring writes has its own name beside service and username. `latchkey` takes it for the credential of the
/// two.
struct ImpliedCredentialTests {
    private let scene: KeyringScene

    init() async throws { scene = try await KeyringScene() }

    @discardableResult
    private func python(_ script: String) async throws -> String {
        let run = try await scene.shell(
            "latchkey keyring run -- python3 -c 'import keyring\n\(script)'")
        #expect(run.status == 0, "\(run.errorText)")
        return run.outputText
    }

    private let show = "print(keyring.get_password(\"py.example\", \"ada\"))"

    @Test func `Python keyring's items are read, listed, replaced and deleted by their names`() async throws {
        try await python("keyring.set_password(\"py.example\", \"ada\", \"of python\")")
        #expect(try await scene.latchkey("get", "py.example", "ada").outputText == "of python")
        #expect(try await scene.latchkey("get", "py.example", "bob").status == 1)
        let list = try await scene.latchkey("list")
        #expect(list.outputText.contains("py.example  ada      password"), "\(list.outputText)")
        #expect(try await scene.latchkey("search", "PY.EX").outputText.components(separatedBy: "py.example").count == 3)
        // The item itself gets another secret, so that Python reads it, and it stays what it is.
        try await scene.set("py.example", "ada", "of latchkey")
        #expect(try await python(show) == "of latchkey\n")
        let items = try await scene.latchkey("list", "--items")
        #expect(items.outputText.contains("application=Python keyring library service=py.example username=ada"))
        #expect(try await scene.latchkey("list", "--items", "--stale", "1").outputText.isEmpty)
        #expect(try await scene.latchkey("vault", "verify").status == 0)
        try await scene.latchkey("delete", "py.example", "ada").successful("delete")
        #expect(try await python(show) == "None\n")
        #expect(try await scene.latchkey("get", "py.example", "ada").status == 1)
        #expect(try await scene.latchkey("list").outputText == "")
    }

    @Test func `the item with exactly service and username comes first, and a deletion takes both`() async throws {
        try await scene.set("py.example", "ada", "exact")
        try await python("keyring.set_password(\"py.example\", \"ada\", \"of python\")")
        #expect(try await scene.latchkey("get", "py.example", "ada").outputText == "exact")
        #expect(try await scene.latchkey("list").outputText.components(separatedBy: "py.example").count == 3)
        try await scene.latchkey("delete", "py.example", "ada").successful("delete")
        // An older one doesn't come to light.
        #expect(try await scene.latchkey("get", "py.example", "ada").status == 1)
        #expect(try await python(show) == "None\n")
    }

    @Test func `the latest of several items is read, and items with more attributes never are`() async throws {
        try await scene.shell(
            """
            latchkey keyring run -- sh -c '
                printf wide | secret-tool store --label=x service py.example username ada protocol https
                printf rust | secret-tool store --label=x service py.example username ada target default application rust
                printf other | secret-tool store --label=x service py.example username ada target work'
            """
        ).successful("store")
        #expect(try await scene.latchkey("get", "py.example", "ada").outputText == "rust")
        try await Task.sleep(for: .milliseconds(1100))
        try await python("keyring.set_password(\"py.example\", \"ada\", \"of python\")")
        #expect(try await scene.latchkey("get", "py.example", "ada").outputText == "of python")
        #expect(try await scene.latchkey("list").outputText.split(separator: "\n").count == 2)
        try await scene.latchkey("delete", "py.example", "ada").successful("delete")
        let rest = try await scene.latchkey("list", "--items").outputText
        #expect(rest.contains("protocol=https") && rest.contains("target=work") && !rest.contains("application"))
    }

    @Test func `Python keyring's item moves as an item, and a store without items gets the credential`() async throws {
        try await python("keyring.set_password(\"py.example\", \"ada\", \"of python\")")
        try await scene.latchkey("vault", "init", "--vault", "other/vault", "--key-file", "other.key").successful(
            "init")
        let moved = try await scene.latchkey("move", "--from", "vault", "--to", "other/vault", "py.example")
        #expect(moved.status == 0, "\(moved.errorText)")
        let lines = moved.outputText.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].hasSuffix("moved"), "\(moved.outputText)")
        let other = try await scene.latchkey("list", "--items", "--vault", "other/vault").outputText
        #expect(other.contains("application=Python keyring library"))
        #expect(try await scene.latchkey("list").outputText == "")
        // An export, and an import into where it is, change nothing of that.
        try await scene.shell(
            "mkdir -m 700 backup; latchkey vault export backup/vault --key-file other.key --vault other/vault"
        ).successful("export")
        try await scene.latchkey("vault", "import", "backup/vault", "--key-file", "other.key").successful("import")
        #expect(try await python(show) == "of python\n")
        // A session has the attributes of no other kind.
        #expect(try await scene.latchkey("get", "py.example", "ada").outputText == "of python")
    }

    @Test func `rename changes another program's item in place`() async throws {
        try await python("keyring.set_password(\"py.example\", \"ada\", \"of python\")")
        try await scene.latchkey("rename", "py.example", "ada", "--to", "bob").successful("rename")
        #expect(try await scene.latchkey("get", "py.example", "bob").outputText == "of python")
        #expect(try await scene.latchkey("get", "py.example", "ada").status == 1)
        #expect(try await python("print(keyring.get_password(\"py.example\", \"bob\"))") == "of python\n")
    }
}
