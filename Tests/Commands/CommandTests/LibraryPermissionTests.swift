import Foundation
import LatchkeyCommandLine
import LatchkeyCommands
import LatchkeySystem
import LatchkeyTestServer
import Testing
import TestServices

/// What a command may load stands in its definition, and is all that ld.so(8) is seen to load.
@Suite struct LibraryPermissionTests {
    /// The libraries that each process of a command loaded.
    private func loaded(
        _ words: [String], _ scene: RefreshScene, _ environment: [String: String] = [:]
    ) async throws -> [Set<LoadableLibrary>] {
        let folder = try scene.directory.makeFolder("loaded-\(UInt64.random(in: 0 ... .max))")
        let debug = ["LD_DEBUG": "files", "LD_DEBUG_OUTPUT": folder + "/of"]
        let running = try BuiltProducts.latchkey().start(
            words, environment: scene.environment.merging(environment) { $1 }.merging(debug) { $1 })
        running.send(Array("protocol=https\nhost=none.example\n\n".utf8))
        running.closeInput()
        _ = try await running.finish()
        let reports = try FileManager.default.contentsOfDirectory(atPath: folder).map { name in
            try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
        }
        // What this program always loads shows that a report says what is loaded, and that it isn't another program's.
        let own = reports.filter { $0.contains("file=libsodium.so") }
        #expect(!own.isEmpty)
        return own.map { report in Set(LoadableLibrary.allCases.filter { report.contains("file=\($0.fileName) ") }) }
    }

    /// Of each command a call that comes as far as it can where nobody can be asked.
    private static func calls(_ scene: RefreshScene) -> [String: [String]] {
        let directory = scene.directory
        return [
            "sign-in": ["work"], "sign-out": ["work"], "accounts": [], "use": ["work", "octocat"], "token": ["work"],
            "request": ["work", scene.server.userInfoEndpoint],
            "provider add": ["other", "--issuer", scene.server.issuer, "--client-id", "latchkey"],
            "provider list": [], "provider remove": ["other"], "scheme add": ["com.example.test"], "scheme list": [],
            "scheme remove": ["com.example.test"], "scheme receive": ["com.example.test:/?code=x&state=y"],
            "import": ["--from", "git", directory / "none"], "setup": ["git", "--print"], "helper git": ["get"],
            "helper docker": ["list"], "helper cargo": [], "helper keyring": ["get", "none.example", "ada"],
            "helper kubectl": ["work"], "helper headers": ["work"],
            "helper aws": ["work", "--role-arn", "arn:aws:iam::1:role/x", "--sts-endpoint", "http://127.0.0.1:1"],
            "helper go": ["https://none.example/"],
            "helper terraform": ["get", "none.example"], "helper askpass": ["Enter passphrase for key '/none': "],
            "helper systemd": [], "keyring serve": [], "keyring run": ["--", "true"], "keyring enable": [],
            "keyring disable": [], "keyring agent": [], "keyring status": [], "set": ["example.org", "ada"],
            "get": ["example.org", "ada"], "list": [], "generate": ["generated.example", "ada"],
            "rename": ["example.org", "ada", "--to", "bob"], "edit": ["example.org", "bob"],
            "delete": ["example.org", "bob"], "copy": ["--from", "vault", "--to", directory / "none"],
            "move": ["--from", "vault", "--to", directory / "none"], "doctor": [],
            "vault init": ["--vault", directory / "second", "--key-file", directory / "second-key"],
            "vault unlock": [], "vault lock": [], "vault status": [], "vault passwd": [], "vault slots": [],
            "vault add-slot": ["spare", "--key-file", directory / "spare-key"], "vault remove-slot": ["spare"],
            "vault new-key": [], "vault export": [directory / "copy"], "vault import": [directory / "copy"],
            "vault rekey": [], "vault schema": ["orders"], "vault verify": [], "vault accept-rollback": [],
            "search": ["example"], "run": ["--env", "A=example.org/ada", "--", "true"], "completions": ["bash"],
            "config get": ["store"], "config set": ["all-stores", "no"], "config list": [],
        ]
    }

    @Test func `no command loads what its definition doesn't permit`() async throws {
        let scene = try await RefreshScene()
        let calls = Self.calls(scene)
        var all: Set<LoadableLibrary> = []
        for command in CommandTable.all {
            let name = command.definition.name
            let words = name.split(separator: " ").map(String.init) + (try #require(calls[name], "\(name)"))
            let processes = try await loaded(words + ["--timeout", "20"], scene)
            for process in processes {
                let isOfStores = process.isSubset(of: Set(Command.librariesOfStores))
                #expect(command.usesNetwork || isOfStores, "\(name): \(process)")
                all.formUnion(process)
            }
            // What starts a worker loads nothing itself.
            #expect(!command.usesNetwork || processes.contains([]), "\(name)")
        }
        #expect(all.isSuperset(of: [.curl, .crypto, .microHTTPD, .glib]))
        #expect(CommandTable.all.filter(\.usesNetwork).count == 7)
    }

    /// A session whose token is good is handed out without the network, also where that may be loaded.
    @Test func `a fresh token loads nothing, and one that has ended loads libcurl in another process`() async throws {
        let scene = try await RefreshScene()
        for words in [["token", "work"], ["helper", "kubectl", "work"], ["accounts"], ["use", "work", "octocat"]] {
            #expect(try await loaded(words, scene) == [[]], "\(words)")
        }
        #expect(try await loaded(["run", "work", "--", "true"], scene).allSatisfy(\.isEmpty))
    }
}
