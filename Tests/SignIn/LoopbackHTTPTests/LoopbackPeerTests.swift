import Glibc
import LatchkeyHTTP
import Testing

@testable import LatchkeyLoopback

/// Whose socket it is, by tables as the kernel prints them.
struct LoopbackPeerTests {
    private let head =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"

    private func row(_ local: String, _ remote: String, state: String, uid: Int) -> String {
        "   1: \(local) \(remote) \(state) 00000000:00000000 00:00000000 00000000  \(uid)        0 77 1 0 20 4 30 10 -1\n"
    }

    /// 127.0.0.1, port 0xABCD, to our port 0x1F90.
    private let peer = LoopbackPeer(address: "0100007F", port: 0xABCD, serverPort: 0x1F90)

    @Test func `another user's connection is recognized`() {
        let table =
            head + row("0100007F:1F90", "00000000:0000", state: "0A", uid: 1000)
            + row("0100007F:ABCD", "0100007F:1F90", state: "01", uid: 4711)
        #expect(peer.owner(inTable: table, address: peer.address) == 4711)
    }

    @Test func `the server's own end of the connection doesn't count as the peer's`() {
        let table = head + row("0100007F:1F90", "0100007F:ABCD", state: "01", uid: 1000)
        #expect(peer.owner(inTable: table, address: peer.address) == nil)
    }

    @Test func `own connections and root's are trusted, other users' are not`() {
        #expect(LoopbackDaemon.isTrusted(1000, by: 1000))
        #expect(LoopbackDaemon.isTrusted(0, by: 1000))
        #expect(!LoopbackDaemon.isTrusted(1001, by: 1000))
        #expect(!LoopbackDaemon.isTrusted(1000, by: 0))
    }

    @Test func `a closed connection, which the kernel shows as root's, has no owner`() {
        let table = head + row("0100007F:ABCD", "0100007F:1F90", state: "06", uid: 0)
        #expect(peer.owner(inTable: table, address: peer.address) == nil)
    }

    @Test func `a connection of the same port to another server is another one`() {
        let table = head + row("0100007F:ABCD", "0100007F:1F91", state: "01", uid: 4711)
        #expect(peer.owner(inTable: table, address: peer.address) == nil)
    }

    @Test func `a table cut off in the middle of a row has no owner for it`() {
        #expect(peer.owner(inTable: head + "   1: 0100007F:ABCD 0100007F:1F90 01", address: peer.address) == nil)
        #expect(peer.owner(inTable: "", address: peer.address) == nil)
    }

    @Test(arguments: [LoopbackServer.Family.ipv4, .ipv6])
    func `the kernel and its tables name this process's user`(family: LoopbackServer.Family) async throws {
        let server = try LoopbackServer(.init(family: family)) { request in
            let owners = [request.peer.userIDBySocket, request.peer.userIDInTables]
            let text = owners.map { $0.map { "\($0)" } ?? "unknown" }.joined(separator: " ")
            return LoopbackResponse(status: 200, fields: [LoopbackField("X-Owner", text)])
        }
        let response = try await CurlTransport().send(GuardedRequest(.get, HTTPURL(server.origin)))
        #expect(response.field("X-Owner") == "\(geteuid()) \(geteuid())")
    }

    @Test(arguments: ["0100007F", "00000000000000000000000001000000"])
    func `a socket that isn't connected has no owner, even with a listener at its address`(address: String) throws {
        let server = try LoopbackServer(.init(family: address.count == 8 ? .ipv4 : .ipv6)) { _ in .init(status: 200) }
        let port = try #require(UInt16(server.authority.split(separator: ":").last ?? ""))
        let peer = LoopbackPeer(address: address, port: port, serverPort: 1)
        #expect(peer.userIDBySocket == nil)
        #expect(peer.userID == nil)
    }
}
