import LatchkeyOAuth
import LatchkeySystem
import Testing

@testable import LatchkeyHTTP
@testable import LatchkeyCommands
@testable import LatchkeyVault

/// Three places had three rules of what this machine is, and the helper's took `[::1].evil.example` for it.
@Suite struct LoopbackTests {
    private static let hosts: [(String, Bool)] = [
        ("127.0.0.1", true), ("[::1]", true), ("localhost", true), ("LocalHost", true),
        ("127.0.0.2", false), ("127.1", false), ("0177.0.0.1", false), ("2130706433", false), ("0.0.0.0", false),
        ("[::]", false), ("[::ffff:127.0.0.1]", false), ("localhost.", false), ("a.localhost", false),
        ("localhost.evil.example", false), ("127.0.0.1.evil.example", false), ("example.org", false),
    ]

    @Test(arguments: hosts) func `a host is a loopback host for every part of Latchkey, or for none`(
        host: String, isLoopback: Bool
    ) throws {
        #expect(HostName.isLoopback(host) == isLoopback)
        let url = try HTTPURL("http://\(host):8080/")
        #expect(url.isLoopback == isLoopback && url.isConfidential == isLoopback)
        #expect((try PostgreSQLAddress("postgresql://\(host)/d").parameters["sslmode"] == nil) == isLoopback)
        for port in ["", ":8080"] {
            let names = IndexName("http://\(host)\(port)/simple/").candidates
            #expect(names.contains(host + port) == isLoopback, "\(names)")
        }
        // Servers compare a redirect octet by octet, so a name has one spelling.
        let isRedirect = isLoopback && host == host.lowercased()
        #expect(((try? RedirectURI("http://\(host)/callback"))?.kind == .loopback) == isRedirect)
    }

    @Test(arguments: ["", "[::1].evil.example", "[::1]:80", "127.0.0.1:80", "[127.0.0.1]", "::1.", " localhost"])
    func `a name that only begins like a loopback host isn't one`(_ host: String) {
        #expect(!HostName.isLoopback(host))
    }
}
