internal import CLatchkeyLinux
internal import Glibc
internal import LatchkeySystem

/// The other end of a connection: a socket on this machine.
package struct LoopbackPeer: Sendable, Hashable {
    /// As in the kernel's tables: the address as 32-bit words in the machine's byte order, in hexadecimal.
    let address: String
    package let port: UInt16
    let serverPort: UInt16

    /// The owner of the socket according to the kernel (sock_diag(7), or /proc/net/tcp and /proc/net/tcp6 if that is
    /// refused), or `nil` if the socket is closed already or the kernel hides both.
    package var userID: UInt32? { userIDBySocket ?? userIDInTables }

    /// Asks for the one socket: the tables would be searched as a whole.
    var userIDBySocket: UInt32? {
        let isIPv4 = address.count == 8
        var local = Self.words(address)
        var server: [UInt32] = isIPv4 ? [UInt32(bigEndian: 0x7F00_0001)] : [0, 0, 0, UInt32(bigEndian: 1)]
        while local.count < 4 { local.append(0) }
        while server.count < 4 { server.append(0) }
        var owner: UInt32 = 0
        let number = unsafe latchkey_tcp_owner(isIPv4 ? AF_INET : AF_INET6, local, port, server, serverPort, &owner)
        return number == 0 ? owner : nil
    }

    /// A connection to 127.0.0.1 may come from an IPv6 socket, so both tables are searched.
    var userIDInTables: UInt32? {
        let isIPv4 = address.count == 8
        if isIPv4, let owner = Self.read("/proc/net/tcp").flatMap({ owner(inTable: $0, address: address) }) {
            return owner
        }
        let mapped = isIPv4 ? "0000000000000000FFFF0000" + address : address
        return Self.read("/proc/net/tcp6").flatMap { owner(inTable: $0, address: mapped) }
    }
}

extension LoopbackPeer {
    /// Returns `nil` for an address of another family.
    @unsafe init?(_ socketAddress: UnsafePointer<sockaddr>?, serverPort: UInt16) {
        guard let socketAddress = unsafe socketAddress else { return nil }
        let raw = unsafe UnsafeRawPointer(socketAddress)
        switch Int32(unsafe raw.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET:
            let inet = unsafe raw.loadUnaligned(as: sockaddr_in.self)
            address = Hexadecimal.encode(inet.sin_addr.s_addr).uppercased()
            port = UInt16(bigEndian: inet.sin_port)
        case AF_INET6:
            let inet = unsafe raw.loadUnaligned(as: sockaddr_in6.self)
            let words = unsafe withUnsafeBytes(of: inet.sin6_addr) { bytes in
                (0..<4).map { unsafe bytes.loadUnaligned(fromByteOffset: $0 * 4, as: UInt32.self) }
            }
            address = words.map { Hexadecimal.encode($0) }.joined().uppercased()
            port = UInt16(bigEndian: inet.sin6_port)
        default: return nil
        }
        self.serverPort = serverPort
    }

    private static func words(_ address: String) -> [UInt32] {
        stride(from: 0, to: address.count, by: 8).compactMap { UInt32(address.dropFirst($0).prefix(8), radix: 16) }
    }

    /// The owner of the socket whose local end is this peer and whose remote end is the server.
    func owner(inTable table: String, address: String) -> UInt32? {
        let local = "\(address):\(Hexadecimal.encode(port).uppercased())"
        let remotePort = ":" + Hexadecimal.encode(serverPort).uppercased()
        for line in table.split(separator: "\n").dropFirst() {
            // sl local_address rem_address st tx:rx tr:when retrnsmt uid …
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            // 01 is an established connection; closed ones lose their owner and show 0, which would be root.
            guard words.count > 7, words[1] == local, words[2].hasSuffix(remotePort), words[3] == "01" else { continue }
            return UInt32(words[7])
        }
        return nil
    }

    private static func read(_ path: String) -> String? {
        // Some 150 bytes for each socket of the machine.
        (try? PrivateFile.read(path, limit: 256 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
}
