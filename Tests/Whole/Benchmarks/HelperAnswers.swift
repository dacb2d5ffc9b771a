internal import Foundation
internal import TestServices

/// The helpers of other tools, with each store, beside the programs that they replace.
struct HelperAnswers {
    private let latchkey: Program
    private let session: PrivateSession
    private let start: ColdStart

    init(latchkey: Program, session: PrivateSession) {
        self.latchkey = latchkey
        self.session = session
        var environment = session.environment
        // Not the vault of the other groups.
        environment["LATCHKEY_KEY_FILE"] = session.directory / "helpers-key"
        environment["LATCHKEY_VAULT"] = session.directory / "helpers-vault"
        start = ColdStart(latchkey: latchkey, directory: session.directory, environment: environment)
    }

    func run() async throws {
        try await latchkey.run(
            ["vault", "init", "--key-file", session.directory / "helpers-key"], environment: start.environment
        ).successful("latchkey vault init")
        try await git()
        try await docker()
        try await keyring()
    }

    private func git() async throws {
        let peer = try await GitCredentialLibsecret(on: session)
        let request = "protocol=https\nhost=example.com\n"
        let login = request + "username=ada\npassword=s3cret\n\n"
        try await peer.program.run(["store"], environment: session.environment, input: Array(login.utf8))
            .successful("git-credential-libsecret")
        try await store("git", login)
        try await compare(
            "git asks for a password", "git", request + "\n", limit: 1.0,
            ("git-credential-libsecret", "\(peer.program.path) get"))
    }

    private func docker() async throws {
        let server = "https://registry.example.com/v1/"
        let login = "{\"ServerURL\":\"\(server)\",\"Username\":\"ada\",\"Secret\":\"s3cret\"}"
        let peer = try Program("docker-credential-secretservice")
        try await peer.run(["store"], environment: session.environment, input: Array(login.utf8))
            .successful("docker-credential-secretservice")
        try await store("docker", login)
        try await compare(
            "docker asks for a login", "docker", server, limit: 1.0,
            ("docker-credential-secretservice", "\(peer.path) get"))
    }

    private func keyring() async throws {
        for name in Self.stores {
            try await latchkey.run(
                ["set", "--store", name, "index", "ada"], environment: start.environment, input: Array("s3cret".utf8)
            ).successful("latchkey set")
        }
        try await compare(
            "pip asks keyring", "keyring", "", limit: 0.1, runs: 30,
            ("Python keyring", "/usr/bin/python3 -m keyring get index ada"), "get index ada")
    }

    // MARK: - Both stores

    private static let stores = ["vault", "secret-service"]

    private func store(_ helper: String, _ login: String) async throws {
        for name in Self.stores {
            try await latchkey.run(
                ["helper", helper, "store", "--store", name], environment: start.environment, input: Array(login.utf8)
            ).successful("latchkey helper \(helper)")
        }
    }

    private func compare(
        _ title: String, _ helper: String, _ request: String, limit: Double, runs: Int = 200,
        _ peer: (name: String, line: String), _ words: String = "get"
    ) async throws {
        let input = try start.directory.write("request", request)
        let ours = Self.stores.map { name in
            (name: "latchkey, \(name)", line: "\(latchkey.path) helper \(helper) \(words) --store \(name)")
        }
        try await start.compare(
            "\(title) (limit: \(limit) × the first)", limit: limit, runs: runs, input: input, [peer] + ours)
    }
}
