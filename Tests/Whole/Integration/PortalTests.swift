import Foundation
import Testing
import TestServices

/// The served keyring behind the real xdg-desktop-portal, for programs in a sandbox: libsecret keeps a file of its own
/// there, under a key that the portal fetches.
@Suite struct PortalTests {
    private let session: PrivateSession
    private let environment: [String: String]
    private var directory: TestDirectory { session.directory }

    init() async throws {
        session = try await PrivateSession(.none)
        environment = session.environment.merging([
            "LATCHKEY_STORE": "vault", "LATCHKEY_KEY_FILE": session.directory / "key",
            "XDG_CURRENT_DESKTOP": "sway", "XDG_DESKTOP_PORTAL_DIR": session.directory / "portals",
        ]) { $1 }
    }

    /// What secret-tool says in a sandbox whose application has this name. Debian's libsecret can miss an answer that
    /// comes before it listens, and then waits for ever: it is asked again, which it must not need often.
    private func secretTool(_ arguments: String, of application: String, input: String = "") async throws -> ProgramRun
    {
        try directory.write("info-\(application)", "[Application]\nname=\(application)\n")
        let script = """
            exec timeout 20 bwrap --ro-bind /usr /usr --symlink usr/bin /bin --symlink usr/lib /lib --symlink usr/lib64 /lib64 \
                --dev /dev --proc /proc --tmpfs /tmp --bind "$1/sandbox" /home --ro-bind "$1/run/bus" /tmp/bus \
                --ro-bind "$1/info-\(application)" /.flatpak-info --clearenv --setenv HOME /home --setenv LANG C.UTF-8 \
                --setenv DBUS_SESSION_BUS_ADDRESS unix:path=/tmp/bus secret-tool \(arguments)
            """
        for _ in 1...4 {
            let run = try await Program("bash").run(
                ["-c", script, "sandbox", directory.path], environment: environment, input: Array(input.utf8))
            if run.status != 124 { return run }
        }
        throw ServiceFailure("libsecret missed the portal's answer four times")
    }

    @Test func `a sandboxed program keeps its secrets under a key from the vault, and another one can't read them`()
        async throws
    {
        let latchkey = try BuiltProducts.latchkey()
        try await latchkey.run(["vault", "init", "--key-file", directory / "key"], environment: environment)
            .successful("vault init")
        let service = try latchkey.start(["keyring", "serve", "--no-prompt"], environment: environment)
        defer { service.kill() }
        try await service.wait(for: "the keyring") { service.errorsSoFar.contains("serving") }
        // The package's own file is what tells the portal of us.
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../../..")
        try FileManager.default.createDirectory(atPath: directory / "portals", withIntermediateDirectories: false)
        try FileManager.default.createDirectory(atPath: directory / "sandbox", withIntermediateDirectories: false)
        try FileManager.default.copyItem(
            at: root.appendingPathComponent(".packaging/latchkey.portal"),
            to: URL(fileURLWithPath: directory / "portals/latchkey.portal"))
        let portal = try Program("/usr/libexec/xdg-desktop-portal").start([], environment: environment)
        defer { portal.kill() }
        try await session.wait(for: "org.freedesktop.portal.Desktop", from: portal)

        try await secretTool("store --label=Mine service a", of: "org.example.App", input: "geheim").successful("store")
        #expect(try await secretTool("lookup service a", of: "org.example.App").outputText == "geheim")
        let file = try Data(
            contentsOf: URL(fileURLWithPath: directory / "sandbox/.local/share/keyrings/default.keyring"))
        #expect(!file.isEmpty && file.firstRange(of: Array("geheim".utf8)) == nil)
        // Another application has another key.
        let other = try await secretTool("lookup service a", of: "org.example.Other")
        #expect(other.status != 0 && !other.outputText.contains("geheim"), "\(other.errorText)")
        let keys = try await latchkey.run(["search", "org.example", "--json"], environment: environment)
            .successful("search").outputText
        #expect(keys.contains("Application key for org.example.App"), "\(keys)")
        #expect(keys.contains("Application key for org.example.Other"), "\(keys)")
    }
}
