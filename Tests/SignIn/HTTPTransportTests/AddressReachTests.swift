import LatchkeyLoopback
import Testing

@testable import LatchkeyHTTP

struct AddressReachTests {
    @Test(arguments: [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.0.1",
        "169.254.169.254",
        "172.16.0.1", "172.31.255.255", "192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1",
        "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0.0.0.0", "64:ff9b::10.0.0.1",
        "64:ff9b::127.0.0.1", "64:ff9b:1::8.8.8.8", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::",
        "2002:808:808::",
        "3fff::1", "5f00::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1",
    ])
    func `an address outside the public internet is refused`(text: String) throws {
        let address = try #require(InternetAddress(text))
        #expect(!AddressReach.publicInternet.permits(address) && AddressReach.anywhere.permits(address))
    }

    @Test(arguments: [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.0", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2001:200::1", "2001:db9::1", "3ffe::1",
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
    ])
    func `the addresses next to refused ranges are accepted`(text: String) throws {
        let address = try #require(InternetAddress(text))
        #expect(AddressReach.publicInternet.permits(address))
        #expect(AddressReach.publicInternetAndLoopback.permits(address))
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("10.0.0.1", false), ("::", false),
    ])
    func `in development loopback is accepted too, and nothing else`(text: String, isTaken: Bool) throws {
        let address: InternetAddress = try #require(InternetAddress(text))
        #expect(AddressReach.publicInternetAndLoopback.permits(address) == isTaken)
    }

    @Test func `an invalid address is refused unless every address is accepted`() {
        #expect(InternetAddress("example.org") == nil)
        #expect(!AddressReach.publicInternet.permits(nil) && AddressReach.anywhere.permits(nil))
    }

    /// The name is nobody's number: what counts is where it leads when the connection is made.
    @Test(arguments: ["127.0.0.1", "localhost"])
    func `a name that leads into this machine gets no connection`(host: String) async throws {
        let server = try LoopbackServer { _ in
            LoopbackResponse(status: 200, contentType: "text/plain", publicText: "reached\n")
        }
        let port = try #require(server.origin.split(separator: ":").last)
        let url = try HTTPURL("http://\(host):\(port)/")
        let open = CurlTransport()
        #expect(try await open.send(GuardedRequest(.get, url)).status == 200)
        // The kept connection of the client before is not used either.
        let strict = open.reaching(.publicInternet)
        do throws(TransportError) {
            _ = try await strict.send(GuardedRequest(.get, url))
            Issue.record("it was asked")
        } catch {
            #expect(error.code == .addressRefused)
        }
        #expect(try await strict.reaching(.publicInternetAndLoopback).send(GuardedRequest(.get, url)).status == 200)
    }
}
