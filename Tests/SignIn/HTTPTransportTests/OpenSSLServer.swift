import TestServices

/// OpenSSL's own HTTPS server, in a process of its own: for what must not share our environment, and for old protocols.
struct OpenSSLServer {
    let origin: String
    private let program: RunningProgram

    /// - Parameter mode: `-www` for a page about the connection, `-HTTP` for files of the folder, header included.
    init(
        _ authority: CertificateAuthority, mode: String = "-www", folder: String = "/", arguments: [String] = []
    ) async throws {
        program = try Program("openssl").start(
            [
                "s_server", "-accept", "127.0.0.1:0", mode, "-cert", authority.serverChain, "-key",
                authority.serverKey,
            ] + arguments, folder: folder)
        let start = "ACCEPT "
        try await program.wait(for: "the server's address") { [program] in
            program.outputSoFar.split(separator: "\n").contains { $0.hasPrefix(start) }
        }
        let line = program.outputSoFar.split(separator: "\n").first { $0.hasPrefix(start) } ?? ""
        origin = "https://" + line.dropFirst(start.count)
    }

    func stop() async { await program.stop() }
}
