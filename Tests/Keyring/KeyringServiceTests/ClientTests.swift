internal import Foundation
internal import Testing
internal import TestServices

/// Programs that keep their secrets with the Secret Service, used as their users do: ours and gnome-keyring are the
/// same to each.
struct ClientTests {
    struct Client: Sendable, CustomTestStringConvertible {
        let name: String
        let output: String
        var testDescription: String { name }
    }

    private static let clients = [
        Client(name: "secret-tool", output: "uno\ntwo\nuno\nnone\n1\n"),
        // go-keyring: plain sessions, exactly one path back from Unlock.
        Client(name: "gh", output: "gho_abc\n1\nLogged out\nnone\n"),
        Client(name: "uv", output: "pass word\nnone\n"),
        Client(name: "cargo", output: "ada (Ada)\nnone\n"),
        Client(
            name: "docker",
            output: """
                {"ServerURL":"https://registry.example/v1/","Username":"ada","Secret":"pass word"}

                {"https://registry.example/v1/":"ada"}
                none

                """),
        // A cookie is kept over two starts, by a key in the keyring; without the key it can't be read.
        Client(
            name: "chromium", output: "cookie: none\ncookie: kept=yes\nChromium Safe Storage\ncookie: none\n"),
    ]

    @Test(arguments: Self.clients, ServedKeyring.Server.met)
    func `other programs find the items that they stored`(_ client: Client, _ server: ServedKeyring.Server) async throws
    {
        try Judges.require()
        let keyring = try await ServedKeyring(server)
        if server == .fullVault {
            // They are items like all others, under the attributes that our own keyring store writes.
            let known = try await keyring.session.secretTool(["search", "service", "example.org", "username", "999"])
            // In bytes: a secret by chance may begin with what joins the character before it.
            #expect(known.output.contains(Array("secret = ".utf8)))
        }
        let script = TestData.folder().appendingPathComponent("clients.sh").path
        let run = try await Program("/bin/bash").run(
            [script, client.name, Judges.folder], environment: keyring.session.environment)
        #expect(run.outputText == client.output, "\(run.errorText)")
    }

    @Test(arguments: ServedKeyring.Server.met)
    func `git's libsecret helper stores, gets and erases`(_ server: ServedKeyring.Server) async throws {
        let keyring = try await ServedKeyring(server)
        let helper = try await GitCredentialLibsecret(on: keyring.session)
        try await helper("store", ["protocol": "https", "host": "git.example", "username": "ada", "password": "p w"])
        let found = try await helper("get", ["protocol": "https", "host": "git.example"])
        #expect(found["username"] == "ada" && found["password"] == "p w")
        try await helper("erase", ["protocol": "https", "host": "git.example", "username": "ada", "password": "p w"])
        #expect(try await helper("get", ["protocol": "https", "host": "git.example"]).isEmpty)
    }
}
