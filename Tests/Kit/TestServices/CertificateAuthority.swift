internal import Foundation

/// A throw-away certificate authority, for servers whose certificate nobody else trusts.
public struct CertificateAuthority: Sendable {
    /// The authority's own certificate, PEM.
    public let certificate: String
    /// The server's certificate for 127.0.0.1, ::1, localhost and issuer.example, followed by the authority's, PEM.
    public let serverChain: String
    public let serverKey: String

    /// Makes an authority and a server certificate in a directory of the test.
    public init(in directory: TestDirectory) async throws {
        let folder = try directory.makeFolder("certificates")
        let authorityKey = folder + "/authority.key"
        certificate = folder + "/authority.pem"
        serverChain = folder + "/server.pem"
        serverKey = folder + "/server.key"
        try directory.write(
            "certificates/server.cnf",
            """
            subjectAltName = IP:127.0.0.1, IP:::1, DNS:localhost, DNS:issuer.example
            extendedKeyUsage = serverAuth
            basicConstraints = critical, CA:FALSE

            """)
        let openssl = try Program("openssl")
        let curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        func run(_ arguments: [String]) async throws {
            try await openssl.run(arguments, folder: folder).successful("openssl " + arguments[0])
        }
        try await run(
            ["req", "-x509"] + curve + [
                "-days", "2", "-subj", "/CN=Latchkey test authority", "-addext", "basicConstraints=critical,CA:TRUE",
                "-keyout", authorityKey, "-out", certificate,
            ])
        try await run(["req"] + curve + ["-subj", "/CN=127.0.0.1", "-keyout", serverKey, "-out", "server.csr"])
        try await run([
            "x509", "-req", "-in", "server.csr", "-CA", certificate, "-CAkey", authorityKey, "-CAcreateserial",
            "-days", "2", "-extfile", "server.cnf", "-out", "leaf.pem",
        ])
        let chain = try directory.read("certificates/leaf.pem") + directory.read("certificates/authority.pem")
        try directory.write("certificates/server.pem", chain)
    }
}
